import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { Log } from '../logging/log.js';
import { Metrics } from '../metrics/metrics.js';
import { operatorClient } from '../../outbound/configured-outbound.js';
import { readAuthority } from '../../tls/authority-file.js';
import { Tracer } from '../tracing/tracer.js';
import type { ExportedSpans } from './trace-exporter.js';

const SPANS = Symbol('exported spans, or null without a collector');

/** Provides the tracer, which is active only if a collector is configured. */
@Global()
@Module({
  providers: [
    { provide: SPANS, inject: [Env, Log, Metrics], useFactory: configuredSpans },
    {
      provide: Tracer,
      inject: [SPANS],
      useFactory: (spans: ExportedSpans | null): Tracer => new Tracer(spans ?? undefined),
    },
  ],
  exports: [Tracer],
})
export class TracingModule implements OnApplicationShutdown {
  constructor(@Inject(SPANS) private readonly spans: ExportedSpans | null) {}

  /** Flushes spans. Requests and jobs have already ended. */
  async onApplicationShutdown(): Promise<void> {
    await this.spans?.stop();
  }
}

/** @throws EnvError when TLS_CA_FILE cannot be read or holds no certificates */
async function configuredSpans(env: Env, log: Log, { registry }: Metrics): Promise<ExportedSpans | null> {
  const endpoint = env.get('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (endpoint === undefined) {
    return null;
  }
  const tls = readAuthority(env);
  const outbound = operatorClient(env, endpoint);
  // Loads the libraries only if a collector is configured.
  const { exportSpans } = await import('./trace-exporter.js');
  return exportSpans({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    headers: env.get('OTEL_EXPORTER_OTLP_HEADERS') ?? {},
    agentFor: (protocol) => outbound.agentFor(protocol, tls),
    log,
    registry,
  });
}
