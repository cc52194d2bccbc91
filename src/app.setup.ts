import type { Server } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import compression from 'compression';
import helmet from 'helmet';
import { AppModule, type AppOptions } from './app.module.js';
import { bearerMiddleware } from './common/auth/bearer.middleware.js';
import { JwtStrategy } from './common/auth/jwt.strategy.js';
import { answerClientErrors } from './common/http/client-error.js';
import { corsOptions } from './common/http/cors.js';
import { requestContextMiddleware } from './common/http/request-context.js';
import { requestLog } from './common/http/request-log.middleware.js';
import { checkHostInMiddleware, requireHost } from './common/http/require-host.js';
import { Log } from './common/logging/log.js';
import { NestLogger } from './common/logging/nest-logger.js';
import { Metrics } from './common/metrics/metrics.js';
import { addressRateLimit } from './common/rate-limit/address-rate-limit.middleware.js';
import { RateLimits } from './common/rate-limit/rate-limits.js';
import { Env } from './config/env.js';
import { setUpApiDocs } from './openapi.js';

const HSTS_MAX_AGE_SECONDS = 31_536_000;
const TIMEOUT_CHECK_MS = 1_000;
const DOCS_PATH = /^\/docs(\/|$)/;

/** Builds the service, ready to listen. `main.ts`, evaluation mode and the tests all come through here. */
export async function createApp(options: AppOptions): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule.with(options), {
    bodyParser: false,
    abortOnError: false,
    logger: new NestLogger(new Log(options.env)),
    routeConflictPolicy: { duplicate: 'error', shadow: 'error' },
  });
  configureApp(app);
  return app;
}

/**
 * Puts the middleware in its order: everything that must hold for errors too comes first, the address limit before
 * authentication, authentication before anything reads a body.
 */
export function configureApp(app: NestExpressApplication): void {
  const env = app.get(Env);
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.set('trust proxy', env.get('TRUST_PROXY'));
  app.use(requestContextMiddleware);
  app.use(requestLog(app.get(Log), app.get(Metrics)));
  useSecurityHeaders(app);
  app.enableCors(corsOptions(env.get('CORS_ORIGINS')));
  app.use(compression());
  app.use(requireHost);
  app.use(addressRateLimit(app.get(RateLimits).address));
  app.use(bearerMiddleware(app.get(JwtStrategy)));
  setUpApiDocs(app);
  configureServer(app.getHttpServer(), env);
}

function useSecurityHeaders(app: NestExpressApplication): void {
  const shared = {
    strictTransportSecurity: { maxAge: HSTS_MAX_AGE_SECONDS, includeSubDomains: true },
    referrerPolicy: { policy: 'no-referrer' },
    xPoweredBy: true,
  } as const;
  const forData = helmet({
    ...shared,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
  });
  // The page of the API documentation needs its own scripts, styles and images, and calls this origin.
  const forDocs = helmet({
    ...shared,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:'],
        frameAncestors: ["'none'"],
      },
    },
  });
  app.use(
    (
      request: { path: string },
      response: { setHeader(name: string, value: string): void },
      next: () => void,
    ) => {
      response.setHeader('Cache-Control', 'no-store');
      const protect = DOCS_PATH.test(request.path) ? forDocs : forData;
      protect(request as never, response as never, next);
    },
  );
}

function configureServer(server: Server, env: Env): void {
  // Read when the server begins to listen; Node looks at its timeouts every 30 seconds otherwise.
  (server as Server & { connectionsCheckingInterval: number }).connectionsCheckingInterval = TIMEOUT_CHECK_MS;
  server.headersTimeout = env.get('HTTP_HEADERS_TIMEOUT_MS');
  server.requestTimeout = env.get('HTTP_REQUEST_TIMEOUT_MS');
  server.keepAliveTimeout = env.get('HTTP_KEEP_ALIVE_TIMEOUT_MS');
  server.maxConnections = env.get('HTTP_MAX_CONNECTIONS');
  checkHostInMiddleware(server);
  answerClientErrors(server);
}
