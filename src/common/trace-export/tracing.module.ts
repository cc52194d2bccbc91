import { randomUUID } from 'node:crypto';
import { Global, Inject, Module, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import type { Attributes } from '@opentelemetry/api';
import { Env } from '../../config/env.js';
import { Clock } from '../clock.js';
import { Log } from '../logging/log.js';
import { Metrics } from '../metrics/metrics.js';
import { operatorClient } from '../outbound/configured-outbound.js';
import { DialThread } from '../outbound/thread/dial-thread.js';
import { SERVICE_NAME, SERVICE_VERSION } from '../service-version.js';
import { readAuthority } from '../tls/authority-file.js';
import { Tracer, type Sampling } from '../tracing/tracer.js';
import { TraceExporter } from './trace-exporter.js';

const PATH = '/v1/traces';
const EXPORTER = Symbol('the exporter of traces, null where there are none');

/** Traces of what the service does, as the settings say. */
@Global()
@Module({
  providers: [
    {
      provide: EXPORTER,
      inject: [Env, Log, Metrics, DialThread],
      useFactory: configuredExporter,
    },
    {
      provide: Tracer,
      inject: [Env, Clock, EXPORTER],
      useFactory: (env: Env, clock: Clock, sink: TraceExporter | null): Tracer =>
        sink === null ? new Tracer() : new Tracer({ sampling: samplingOf(env), sink, clock }),
    },
  ],
  exports: [Tracer],
})
export class TracingModule implements OnModuleDestroy, OnApplicationShutdown {
  constructor(@Inject(EXPORTER) private readonly exporter: TraceExporter | null) {}

  /** Requests and jobs have ended by then, and the thread that opens connections is still there. */
  async onModuleDestroy(): Promise<void> {
    await this.exporter?.flush();
  }

  /** What ends with other modules. */
  async onApplicationShutdown(): Promise<void> {
    await this.exporter?.flush();
  }
}

/** @throws EnvError when OTEL_EXPORTER_OTLP_CERTIFICATE cannot be read or holds no certificates */
function configuredExporter(
  env: Env,
  log: Log,
  { registry }: Metrics,
  thread: DialThread,
): TraceExporter | null {
  const endpoint = env.get('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (endpoint === undefined) {
    return null;
  }
  const file = env.get('OTEL_EXPORTER_OTLP_CERTIFICATE');
  const options = {
    url: endpoint.replace(/\/$/, '') + PATH,
    headers: env.get('OTEL_EXPORTER_OTLP_HEADERS') ?? {},
    tls: file === undefined ? undefined : { ca: readAuthority(file, 'OTEL_EXPORTER_OTLP_CERTIFICATE') },
    resource: resourceOf(env),
    timeoutMs: env.get('OTEL_EXPORTER_OTLP_TIMEOUT'),
    delayMs: env.get('OTEL_BSP_SCHEDULE_DELAY'),
    batch: env.get('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    queue: env.get('OTEL_BSP_MAX_QUEUE_SIZE'),
  };
  return new TraceExporter(options, operatorClient(env, endpoint, thread), log, registry);
}

function samplingOf(env: Env): Sampling {
  const sampler = env.get('OTEL_TRACES_SAMPLER');
  return {
    share: sampler.endsWith('always_on') ? 1 : env.get('OTEL_TRACES_SAMPLER_ARG'),
    callersDecide: sampler.startsWith('parentbased_'),
  };
}

/** Who the spans are of (OpenTelemetry Semantic Conventions, "Service"). */
function resourceOf(env: Env): Attributes {
  return {
    'service.version': SERVICE_VERSION,
    'service.instance.id': randomUUID(),
    'service.name': SERVICE_NAME,
    ...env.get('OTEL_RESOURCE_ATTRIBUTES'),
    ...(env.get('OTEL_SERVICE_NAME') === undefined ? {} : { 'service.name': env.get('OTEL_SERVICE_NAME') }),
  };
}
