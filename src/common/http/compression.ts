import compression from 'compression';
import type { RequestHandler } from 'express';

const CODING = /\b(br|gzip|deflate)\b/;

/** Express middleware that compresses answers for callers that ask for it, and costs the others nothing. */
export function compressionOnRequest(): RequestHandler {
  const compress = compression();
  return (request, response, next) => {
    response.vary('Accept-Encoding');
    if (CODING.test(request.headers['accept-encoding'] ?? '')) {
      compress(request, response, next);
    } else {
      next();
    }
  };
}
