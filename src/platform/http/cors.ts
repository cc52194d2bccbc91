import { isIPv6 } from 'node:net';
import type {
  CorsOptions,
  CorsOptionsDelegate,
} from '@nestjs/common/interfaces/external/cors-options.interface.js';
import type { Request, RequestHandler } from 'express';
import type { Env } from '../config/env.js';

/** Path of a process start (docs/contract.md, section 4.1). */
export const START_PATH = /\/process-name\/[^/]+\/start$/;

const DAY_SECONDS = 86_400;

const CORS_HEADERS = [
  'Accept',
  'Accept-Language',
  'Authorization',
  'Cache-Control',
  'Content-Type',
  'DNT',
  'Idempotency-Key',
  'If-Match',
  'If-Modified-Since',
  'If-None-Match',
  'Keep-Alive',
  'Last-Event-ID',
  'Range',
  'User-Agent',
  'X-Request-Id',
  'X-Requested-With',
  'svc-back',
  'svc-platform',
  'traceparent',
  'tracestate',
].join(', ');

/** Methods in the response to a process start and to its preflight (docs/contract.md, section 4.1). */
const START_METHODS = 'GET, PUT, POST, DELETE, PATCH';

const EXPOSED_HEADERS = [
  'ETag',
  'Idempotent-Replayed',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
];

/**
 * Returns the CORS options of a request.
 * @param origins allowed origins, compared exactly
 */
export function corsOptions(origins: string[]): CorsOptionsDelegate<Request> {
  const options: CorsOptions = {
    origin: origins,
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: CORS_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: DAY_SECONDS,
  };
  const startOptions = { ...options, methods: START_METHODS };
  return (request, callback) => callback(null, START_PATH.test(request.path) ? startOptions : options);
}

/**
 * Express middleware that sets the CORS headers of the contract on every response to a process start, including errors
 * and preflights (docs/contract.md, section 4.1). It runs before the CORS middleware, which writes the origin of
 * allowed callers; all others get our own origin.
 */
export function startHeaders(env: Env): RequestHandler {
  const publicOrigin = env.get('PUBLIC_ORIGIN');
  return (request, response, next) => {
    if (START_PATH.test(request.path)) {
      response.setHeader('Access-Control-Allow-Credentials', 'true');
      response.setHeader('Access-Control-Allow-Headers', CORS_HEADERS);
      response.setHeader('Access-Control-Allow-Methods', START_METHODS);
      response.setHeader('Access-Control-Allow-Origin', publicOrigin ?? listeningOrigin(request));
    }
    next();
  };
}

/** Returns the origin that the connection reached. The Host header is not used, because callers control it. */
function listeningOrigin({ protocol, socket }: Request): string {
  const { localAddress = '', localPort } = socket;
  const address = localAddress.replace(/^::ffff:/i, '');
  return `${protocol}://${isIPv6(address) ? `[${address}]` : address}:${localPort}`;
}
