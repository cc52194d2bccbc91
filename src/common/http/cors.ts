import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface.js';

const DAY_SECONDS = 86_400;

/** Headers that browsers may send: those of the interface contract and our own. */
const ALLOWED_HEADERS = [
  'Accept',
  'Accept-Language',
  'Authorization',
  'Cache-Control',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'X-Request-Id',
  'svc-platform',
  'traceparent',
  'tracestate',
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** @param origins the only origins that are answered, compared exactly; none without any */
export function corsOptions(origins: string[]): CorsOptions {
  return {
    origin: origins,
    credentials: true,
    methods: METHODS,
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: ['ETag', 'X-Request-Id', 'Retry-After'],
    maxAge: DAY_SECONDS,
  };
}
