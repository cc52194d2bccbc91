import { Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { AuthModule } from './common/auth/auth.module.js';
import type { TrustedIssuer } from './common/auth/trusted-issuer.js';
import { Clock } from './common/clock.js';
import { AllExceptionsFilter } from './common/http/all-exceptions.filter.js';
import { HandlerSpansInterceptor } from './common/http/request-spans.js';
import { RequestChecksModule } from './common/http/request.guard.js';
import { StopGateModule } from './common/http/stop-gate.js';
import { Log } from './common/logging/log.js';
import { OutboundModule } from './common/outbound/thread/dial-thread.js';
import { TracingModule } from './common/trace-export/tracing.module.js';
import { MetricsModule } from './modules/health/metrics.module.js';
import { SecretsModule } from './database/secrets.module.js';
import { RequestValidationPipe } from './common/validation/request-validation.pipe.js';
import { GlobalValue } from './common/global-value.js';
import type { Env } from './config/env.js';
import { DatabaseModule } from './database/database.module.js';
import { SCHEMA } from './schema.js';
import { AgentsModule } from './modules/agents/agents.module.js';
import { AuditModule } from './modules/audit/audit.module.js';
import { DiscoveryModule } from './modules/discovery/discovery.module.js';
import { HealthModule } from './modules/health/health.module.js';
import { JobWorkersModule } from './modules/jobs/job-workers.module.js';
import { BuildsModule } from './modules/builds/builds.module.js';
import { ConsoleModule } from './modules/console/console.module.js';
import { JobsModule } from './modules/jobs/jobs.module.js';
import { ProcessRuntimeModule } from './modules/process-runtime/process-runtime.module.js';
import { RestEndpointsModule } from './modules/rest-endpoints/rest-endpoints.module.js';
import { SystemsModule } from './modules/systems/systems.module.js';
import { ToolsModule } from './modules/tools/tools.module.js';
import { UiActionModule } from './modules/ui-action/ui-action.module.js';
import { WorkflowsModule } from './modules/workflows/workflows.module.js';

/** What differs between production, evaluation mode and tests. */
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

/** The whole service. Guards, filter and pipe are here, so that a test gets the same chain. */
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
