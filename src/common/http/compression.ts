import compression from 'compression';
import type { RequestHandler } from 'express';
import { START_PATH } from './start-path.js';

const CODING = /\b(br|gzip|deflate)\b/;

/** Files for anybody: those worth compressing are kept compressed (`KeptFile`). */
const FILES_PATH = /^\/docs\//;

/**
 * Express middleware that compresses answers for callers that ask for it, and costs the others nothing. Short answers stay
 * as they are, but for that of a process start: the contract has Content-Encoding among its headers.
 */
export function compressionOnRequest(): RequestHandler {
  const compressLong = compression();
  const compressAll = compression({ threshold: 0 });
  return (request, response, next) => {
    response.vary('Accept-Encoding');
    if (CODING.test(request.headers['accept-encoding'] ?? '') && !FILES_PATH.test(request.path)) {
      const compress = START_PATH.test(request.path) ? compressAll : compressLong;
      compress(request, response, next);
    } else {
      next();
    }
  };
}
