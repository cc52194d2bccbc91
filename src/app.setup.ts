import type { Server } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { setUpApiDocs } from './api-docs.js';
import { AppModule, type AppOptions } from './app.module.js';
import { bearerMiddleware, PUBLIC_PATHS } from './platform/auth/bearer.middleware.js';
import { JwtStrategy } from './platform/auth/jwt.strategy.js';
import { TrustedIssuer } from './platform/auth/trusted-issuer.js';
import {
  limitAllConnections,
  limitConnections,
  answerClientErrors,
  requireHost,
} from './platform/http/http-server.js';
import { compressionOnRequest } from './platform/http/compression.js';
import { corsOptions, startHeaders } from './platform/http/cors.js';
import { JsonReplies } from './platform/http/json-replies.js';
import { requestContextMiddleware } from './platform/observability/logging/request-context.js';
import { requestLog } from './platform/http/request-log.middleware.js';
import { requestSpans } from './platform/http/request-spans.js';
import { securityHeaders } from './platform/http/security-headers.js';
import { httpLimits } from './platform/http.limits.js';
import { StopGate } from './platform/http/stop-gate.js';
import { withoutStarCondition } from './platform/http/conditional-requests.js';
import { Log, NestLogger } from './platform/observability/logging/log.js';
import { Metrics } from './platform/observability/metrics/metrics.js';
import { addressRateLimit } from './platform/rate-limit/address-rate-limit.middleware.js';
import { RateLimits } from './platform/rate-limit/rate-limits.js';
import { Tracer } from './platform/observability/tracing/tracer.js';
import { Env } from './platform/config/env.js';
import { consolePaths, redirectToConsole, serveConsole } from './console/console-setup.js';

/** Creates the service, ready to listen. Used by `main.ts`, evaluation mode and the tests. */
export async function createApp(
  options: AppOptions,
  log = new Log(options.env),
): Promise<NestExpressApplication> {
  const module = AppModule.with(options, log);
  const app = await NestFactory.create<NestExpressApplication>(module, new JsonReplies(), {
    bodyParser: false,
    abortOnError: false,
    logger: new NestLogger(log),
    routeConflictPolicy: { duplicate: 'error', shadow: 'error' },
  });
  configureApp(app);
  return app;
}

/**
 * Registers the middleware in order: first everything that also applies to errors, then the rate limit of the address,
 * then authentication. Nothing reads a body before authentication.
 */
export function configureApp(app: NestExpressApplication): void {
  const env = app.get(Env);
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.set('trust proxy', env.get('TRUST_PROXY'));
  const tracer = app.get(Tracer);
  app.use(
    requestContextMiddleware,
    ...(tracer.isOn ? [requestSpans(tracer)] : []),
    requestLog(app.get(Log), app.get(Metrics)),
    securityHeaders(),
    startHeaders(env),
  );
  app.enableCors(corsOptions(env.get('CORS_ORIGINS')));
  app.use(
    compressionOnRequest(),
    withoutStarCondition,
    app.get(StopGate).middleware,
    requireHost,
    addressRateLimit(app.get(RateLimits)),
    ...(env.get('CONSOLE') ? [redirectToConsole] : []),
    bearerMiddleware(app.get(JwtStrategy), [...PUBLIC_PATHS, ...consolePaths(env)]),
  );
  setUpApiDocs(app);
  if (env.get('CONSOLE')) {
    app.use(serveConsole(app.get(TrustedIssuer)));
  }
  configureServer(app);
  app.get(StopGate).watch(app.getHttpServer());
}

function configureServer(app: NestExpressApplication): void {
  const server: Server = app.getHttpServer();
  const env = app.get(Env);
  const { limits } = app.get(Metrics);
  server.headersTimeout = httpLimits.headersTimeoutMs;
  server.requestTimeout = httpLimits.requestTimeoutMs;
  server.keepAliveTimeout = httpLimits.keepAliveTimeoutMs;
  limitAllConnections(server, { name: 'connections', max: httpLimits.connections }, limits);
  answerClientErrors(server, app.get(Log));
  const perAddress = { name: 'address-connections', max: httpLimits.addressConnections };
  // Behind proxies, all connections come from the last proxy.
  if (perAddress.max > 0 && env.get('TRUST_PROXY') === 0) {
    limitConnections(server, perAddress, limits);
  }
}
