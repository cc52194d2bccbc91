import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AppOptions } from './app.module.js';
import { createApp } from './app.setup.js';
import { httpLimits } from './platform/http/http.limits.js';
import { StopGate } from './platform/http/stop-gate.js';
import { misreadsJsonNames } from './platform/json/json-names.js';
import { listening } from './platform/http/http-server.js';
import { Log } from './platform/observability/logging/log.js';
import { Env } from './platform/config/env.js';
import { HealthService } from './health/health.service.js';
import { JobWorkerService } from './jobs/work/job-worker.service.js';

/** How long after a Ctrl-C npm may still hand on the same one. */
const SAME_KEY_PRESS_MS = 500;
/** Exit status of what a SIGINT has ended, as shells write it. */
const ENDED_BY_SIGINT = 130;

/** Where a started service listens, and what of its surroundings ends with it. */
export interface ServeOptions extends AppOptions {
  host: string;
  onStop?: () => Promise<void>;
  /** Work that the first request must find done. */
  beforeListening?: (app: INestApplicationContext) => Promise<void>;
}

/**
 * Starts the service and stops it in order on SIGTERM and SIGINT; a second Ctrl-C ends it at once.
 * @throws StartError when settings are wrong or what they name cannot be had
 */
export async function serve({ host, onStop, ...options }: ServeOptions): Promise<string> {
  const log = new Log(options.env);
  endOnFatalErrors(log);
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
 * Lets load balancers notice first, while everything is served; then refuses new requests, lets those under way and
 * background jobs finish side by side, and closes the rest. A person's Ctrl-C does not wait for a load balancer.
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
 * One stop only: whoever signals a whole process group, with npm in it, signals twice, and that must cut nothing. But a person
 * who has pressed Ctrl-C and presses it again wants the end at once.
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
        process.exit(ENDED_BY_SIGINT);
      }
    });
  }
}

function endOnFatalErrors(log: Log): void {
  const end = (error: unknown): void => {
    log.error('fatal error', error);
    process.exit(1);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}
