import compression from 'compression';
import type { RequestHandler } from 'express';
import { START_PATH } from './cors.js';

const ENCODING = /\b(br|gzip|deflate)\b/;
/** The caller rejects uncompressed responses (RFC 9110, section 12.5.3). */
const NO_IDENTITY = /\bidentity\s*;\s*q=0(\.0{0,3})?\s*(,|$)/i;

/** The caller rejects all encodings that they do not name. */
const NO_UNNAMED = /\*\s*;\s*q=0(\.0{0,3})?\s*(,|$)/;

/** Public files; those worth compressing are cached in compressed form (`CachedFile`). */
const FILES_PATH = /^\/(docs|console)\//;

/**
 * Express middleware that compresses responses for callers who accept it, at no cost for others. Short responses stay
 * uncompressed, except those of a process start, because the contract lists Content-Encoding among their headers.
 * Callers who reject uncompressed responses and name no known encoding get gzip, unless they reject all others
 * (docs/contract.md, section 1).
 */
export function compressionOnRequest(): RequestHandler {
  const compressLong = compression();
  const compressAll = compression({ threshold: 0 });
  return (request, response, next) => {
    response.vary('Accept-Encoding');
    const { 'accept-encoding': accepted = '' } = request.headers;
    const needsEncoding = NO_IDENTITY.test(accepted);
    if (needsEncoding && !ENCODING.test(accepted) && !NO_UNNAMED.test(accepted)) {
      request.headers['accept-encoding'] = `gzip, ${accepted}`;
    }
    if ((needsEncoding || ENCODING.test(accepted)) && !FILES_PATH.test(request.path)) {
      const compress = needsEncoding || START_PATH.test(request.path) ? compressAll : compressLong;
      compress(request, response, next);
    } else {
      next();
    }
  };
}
