import { createServer, type Server } from 'node:http';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { listening } from '../../common/http/listening.js';
import { StopGate } from '../../common/http/stop-gate.js';
import { Metrics } from '../../common/metrics/metrics.js';

/** Serves the metrics on METRICS_PORT, so that a firewall can keep them from callers of the interface. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: Server | undefined;

  constructor(
    private readonly metrics: Metrics,
    private readonly env: Env,
    private readonly gate: StopGate,
  ) {}

  /** @throws SettingUnusableError when the port cannot be had */
  async onApplicationBootstrap(): Promise<void> {
    const port = this.env.get('METRICS_PORT');
    if (port !== 0) {
      const server = createServer((request, response) => {
        if (request.method !== 'GET' || request.url !== '/metrics') {
          response.writeHead(404).end();
          return;
        }
        this.metrics.text().then(
          (text) => response.setHeader('Content-Type', this.metrics.registry.contentType).end(text),
          () => response.writeHead(500).end(),
        );
      });
      this.gate.watch(server);
      await listening(
        'METRICS_PORT',
        new Promise<void>((resolve, reject) => {
          server.once('error', reject).listen(port, this.env.get('HOST'), resolve);
        }),
      );
      this.server = server;
    }
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }
}
