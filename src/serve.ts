import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AppOptions } from './app.module.js';
import { createApp } from './app.setup.js';
import { httpLimits } from './platform/http.limits.js';
import { StopGate } from './platform/http/stop-gate.js';
import { misreadsJsonNames } from './platform/json/json-names.js';
import { listening } from './platform/http/http-server.js';
import { Log } from './platform/observability/logging/log.js';
import { Env } from './platform/config/env.js';
import { HealthService } from './health/health.service.js';
import { JobWorkerService } from './jobs/work/job-worker.service.js';

/** Time within which npm may forward the same Ctrl-C a second time. */
const SAME_KEY_PRESS_MS = 500;
/** Exit status after SIGINT, as shells report it. */
const SIGINT_EXIT_STATUS = 130;

/** Where the service listens, and hooks of the entry point. */
export interface ServeOptions extends AppOptions {
  host: string;
  onStop?: () => Promise<void>;
  /** Runs after initialization, before the first request is accepted. */
  beforeListening?: (app: INestApplicationContext) => Promise<void>;
}

/**
 * Starts the service and stops it gracefully on SIGTERM and SIGINT. A second Ctrl-C exits immediately.
 * @returns the address of the service
 * @throws StartError when settings are invalid or a resource that they name is not available
 */
export async function serve({ host, onStop, ...options }: ServeOptions): Promise<string> {
  const log = new Log(options.env);
  exitOnFatalErrors(log);
  if (misreadsJsonNames()) {
    log.warn('this release of Node misreads escaped names in JSON: update it', { node: process.version });
  }
  const app = await start({ host, ...options }, log);
  const { port } = app.getHttpServer().address() as AddressInfo;
  stopOnSignals((signal) => stop(app, signal, onStop));
  log.info('listening', { host, port });
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function start(
  { host, beforeListening, ...options }: ServeOptions,
  log: Log,
): Promise<NestExpressApplication> {
  try {
    const app = await createApp(options, log);
    await app.init();
    await beforeListening?.(app);
    await listening('PORT', app.listen(options.env.get('PORT'), host));
    return app;
  } catch (error) {
    log.flush();
    throw error;
  }
}

/**
 * Stops the service gracefully. It first serves everything until load balancers notice; then it rejects new requests,
 * lets running requests and background jobs finish, and closes the rest. A Ctrl-C does not wait for load balancers.
 */
async function stop(
  app: NestExpressApplication,
  signal: NodeJS.Signals,
  onStop?: () => Promise<void>,
): Promise<void> {
  const env = app.get(Env);
  const log = app.get(Log);
  log.info('stopping', { signal });
  setTimeout(() => {
    log.warn('stopped before every request was answered');
    process.exit(1);
  }, httpLimits.shutdownTimeoutMs).unref();
  app.get(HealthService).beginStop();
  const gate = app.get(StopGate);
  gate.leave();
  if (signal === 'SIGTERM' && !env.isEvaluation) {
    await sleep(env.get('SHUTDOWN_DELAY_MS'));
  }
  await Promise.all([gate.close(), app.get(JobWorkerService).stop()]);
  await gate.disconnect();
  await app.close();
  await onStop?.();
  log.info('stopped');
  process.exit(0);
}

/**
 * Stops once: a signal to a whole process group, npm included, arrives twice, and the second one must not interrupt the
 * stop. When a person presses Ctrl-C again, the process exits immediately.
 */
function stopOnSignals(stopFor: (signal: NodeJS.Signals) => Promise<void>): void {
  let first: { signal: NodeJS.Signals; at: number } | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      const now = performance.now();
      if (first === undefined) {
        first = { signal, at: now };
        void stopFor(signal);
      } else if (first.signal === 'SIGINT' && signal === 'SIGINT' && now - first.at > SAME_KEY_PRESS_MS) {
        process.exit(SIGINT_EXIT_STATUS);
      }
    });
  }
}

function exitOnFatalErrors(log: Log): void {
  const exit = (error: unknown): void => {
    log.error('fatal error', error);
    process.exit(1);
  };
  process.on('uncaughtException', exit);
  process.on('unhandledRejection', exit);
}
