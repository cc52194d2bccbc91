import type {
  CorsOptions,
  CorsOptionsDelegate,
} from '@nestjs/common/interfaces/external/cors-options.interface.js';
import type { Request } from 'express';
import { START_PATH } from './start-path.js';

const DAY_SECONDS = 86_400;

/** Headers that browsers may send: those of the interface contract and our own. */
export const CORS_HEADERS = [
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

/** Methods that the answer of a process start names, and the preflight before it (docs/contract.md, section 4.1). */
export const START_METHODS = 'GET, PUT, POST, DELETE, PATCH';

/** What pages may read of an answer. */
const EXPOSED_HEADERS = [
  'ETag',
  'Idempotent-Replayed',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
];

/** @param origins the only origins that are answered, compared exactly; none without any */
export function corsOptions(origins: string[]): CorsOptionsDelegate<Request> {
  const options: CorsOptions = {
    origin: origins,
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: CORS_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: DAY_SECONDS,
  };
  const ofStart = { ...options, methods: START_METHODS };
  return (request, callback) => callback(null, START_PATH.test(request.path) ? ofStart : options);
}
