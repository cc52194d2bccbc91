import type { Server } from 'node:http';
import type { Worker } from 'node:worker_threads';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Env } from '../platform/config/env.js';
import { listening } from '../platform/http/http-server.js';
import { Log } from '../platform/observability/logging/log.js';
import { Metrics } from '../platform/observability/metrics/metrics.js';
import { keepPriority, startThread } from '../platform/threads/start-thread.js';
import { HealthService } from './health.service.js';
import {
  startHeartbeat,
  newPulse,
  type ProbeAnswer,
  type ProbeQuestion,
  type ProbeThreadMessage,
  type ProbeThreadSettings,
} from './probes/main-thread.js';
import { httpLimits } from '../platform/http.limits.js';

const MEMORY_MB = 64;
const RESTART_MS = 1_000;

/** Serves probes and metrics on METRICS_PORT from a separate thread, even while the main thread is busy. */
@Injectable()
export class ProbeThreadService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly pulse = newPulse();
  private worker: Worker | undefined;
  private stopHeartbeat: (() => void) | undefined;

  constructor(
    private readonly metrics: Metrics,
    private readonly health: HealthService,
    private readonly main: HttpAdapterHost,
    private readonly env: Env,
    private readonly log: Log,
  ) {}

  /** @throws SettingUnusableError when the port cannot be opened */
  async onApplicationBootstrap(): Promise<void> {
    if (this.env.get('METRICS_PORT') !== 0) {
      this.stopHeartbeat = startHeartbeat(this.pulse);
      await listening('METRICS_PORT', this.start());
      // The first scrape must find metrics even while the main thread is busy.
      await this.answer('metrics');
    }
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopHeartbeat?.();
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
  }

  private start(): Promise<void> {
    const workerData: ProbeThreadSettings = {
      host: this.env.get('HOST'),
      port: this.env.get('METRICS_PORT'),
      maxStallMs: httpLimits.livenessMaxStallMs,
      pulse: this.pulse,
    };
    const worker = startThread({ name: 'probes', entry: '#probe-worker', workerData, memoryMb: MEMORY_MB });
    this.worker = worker;
    worker.unref();
    return new Promise((resolve, reject) => {
      worker.on('message', (message: ProbeThreadMessage | string) => {
        if (typeof message !== 'string') {
          this.handle(message, resolve, reject);
        }
      });
      worker.on('error', reject);
      worker.on('exit', () => {
        reject(new Error('The probe thread ended.'));
        this.restart(worker);
      });
    });
  }

  private handle(message: ProbeThreadMessage, resolve: () => void, reject: (error: Error) => void): void {
    if ('ask' in message) {
      void this.answer(message.ask);
    } else if ('failed' in message) {
      reject(Object.assign(new Error(message.failed), { code: message.failed }));
      void this.worker?.terminate();
    } else {
      if (message.thread !== undefined) {
        keepPriority(message.thread);
      }
      resolve();
    }
  }

  private async answer(question: ProbeQuestion): Promise<void> {
    const answer = await this.answerTo(question).catch((): ProbeAnswer => ({ unknown: question }));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.worker?.postMessage(answer);
  }

  private async answerTo(question: ProbeQuestion): Promise<ProbeAnswer> {
    if (question === 'metrics') {
      return { metrics: await this.metrics.text() };
    }
    // The probe thread starts before PORT listens.
    const { listening: isListening } = this.main.httpAdapter.getHttpServer() as Server;
    return { readiness: isListening && (await this.health.isReady()), differs: this.health.differs };
  }

  /** Restarts the thread, without which an orchestrator would consider the whole replica dead. */
  private restart(worker: Worker): void {
    if (this.worker !== worker) {
      return;
    }
    this.log.warn('the probe thread ended and is restarted');
    setTimeout(() => {
      if (this.worker === worker) {
        this.start().catch((error: unknown) =>
          this.log.error('the probe thread could not be restarted', error),
        );
      }
    }, RESTART_MS).unref();
  }
}
