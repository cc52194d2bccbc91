import { Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { AuthModule } from './platform/auth/auth.module.js';
import type { TrustedIssuer } from './platform/auth/trusted-issuer.js';
import { Clock } from './platform/clock.js';
import { AllExceptionsFilter } from './platform/http/all-exceptions.filter.js';
import { HandlerSpansInterceptor } from './platform/http/request-spans.js';
import { RequestChecksModule } from './platform/http/request.guard.js';
import { StopGateModule } from './platform/http/stop-gate.js';
import { Log } from './platform/observability/logging/log.js';
import { OutboundModule } from './platform/outbound/thread/dial-thread.js';
import { TracingModule } from './platform/observability/trace-export/tracing.module.js';
import { MetricsModule } from './health/metrics.module.js';
import { SecretsModule } from './store/secrets.module.js';
import { RequestValidationPipe } from './platform/validation/request-validation.pipe.js';
import { GlobalValue } from './platform/global-value.js';
import type { Env } from './platform/config/env.js';
import { DatabaseModule } from './store/database.module.js';
import { SCHEMA } from './schema.js';
import { AgentsModule } from './runtime/calls/agents/agents.module.js';
import { AuditModule } from './audit/audit.module.js';
import { DiscoveryModule } from './discovery/discovery.module.js';
import { GatewayModule } from './gateway/gateway.module.js';
import { HealthModule } from './health/health.module.js';
import { JobWorkersModule } from './jobs/job-workers.module.js';
import { BuildsModule } from './delivery/builds/builds.module.js';
import { ConsoleModule } from './console/console.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { ProcessRuntimeModule } from './runtime/process-runtime.module.js';
import { RestEndpointsModule } from './runtime/calls/rest-endpoints/rest-endpoints.module.js';
import { SystemsModule } from './systems/systems.module.js';
import { ToolsModule } from './systems/tools/tools.module.js';
import { UiActionModule } from './runtime/ui-actions/ui-action.module.js';
import { WorkflowsModule } from './runtime/calls/workflows/workflows.module.js';

/** Options that differ between production, evaluation mode and tests. */
export interface AppOptions {
  env: Env;
  issuer: Pick<FactoryProvider<TrustedIssuer>, 'inject' | 'useFactory'>;
  clock?: Clock;
  modules?: readonly DynamicModule[];
}

const DOMAINS = [
  AuditModule,
  BuildsModule,
  ConsoleModule,
  DiscoveryModule,
  GatewayModule,
  HealthModule,
  JobsModule,
  JobWorkersModule,
  ProcessRuntimeModule,
  SystemsModule,
  ToolsModule,
  UiActionModule,
  WorkflowsModule,
  AgentsModule,
  RestEndpointsModule,
];

/**
 * Root module of the service. It registers the global filter, pipe and guards itself, so that tests run requests
 * through the same chain.
 */
@Module({})
export class AppModule {
  static with(
    { env, issuer, clock = new Clock(), modules = [] }: AppOptions,
    log = new Log(env),
  ): DynamicModule {
    return {
      module: AppModule,
      imports: [
        GlobalValue.of(env),
        GlobalValue.of(log),
        MetricsModule,
        OutboundModule,
        TracingModule,
        StopGateModule,
        DatabaseModule.of(SCHEMA),
        SecretsModule.with(clock),
        { ...AuthModule.forIssuer(issuer, clock), global: true },
        RequestChecksModule,
        ...DOMAINS,
        ...modules,
      ],
      providers: [
        { provide: APP_FILTER, useClass: AllExceptionsFilter },
        { provide: APP_PIPE, useClass: RequestValidationPipe },
        ...(env.get('OTEL_EXPORTER_OTLP_ENDPOINT') === undefined
          ? []
          : [{ provide: APP_INTERCEPTOR, useClass: HandlerSpansInterceptor }]),
      ],
    };
  }
}
