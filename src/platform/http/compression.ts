import compression from 'compression';
import type { RequestHandler } from 'express';
import { START_PATH } from './cors.js';

const CODING = /\b(br|gzip|deflate)\b/;
/** A caller who takes no answer as it is (RFC 9110, section 12.5.3). */
const NO_IDENTITY = /\bidentity\s*;\s*q=0(\.0{0,3})?\s*(,|$)/i;

/** He takes no coding that he does not name. */
const NO_OTHER = /\*\s*;\s*q=0(\.0{0,3})?\s*(,|$)/;

/** Files for anybody: those worth compressing are kept compressed (`KeptFile`). */
const FILES_PATH = /^\/(docs|console)\//;

/**
 * Express middleware that compresses answers for callers that ask for it, and costs the others nothing. Short answers stay
 * as they are, but for that of a process start: the contract has Content-Encoding among its headers. Who refuses answers as they
 * are, and names no coding that there is, gets gzip, unless he refuses all others (docs/contract.md, section 1).
 */
export function compressionOnRequest(): RequestHandler {
  const compressLong = compression();
  const compressAll = compression({ threshold: 0 });
  return (request, response, next) => {
    response.vary('Accept-Encoding');
    const { 'accept-encoding': accepted = '' } = request.headers;
    const needsCoding = NO_IDENTITY.test(accepted);
    if (needsCoding && !CODING.test(accepted) && !NO_OTHER.test(accepted)) {
      request.headers['accept-encoding'] = `gzip, ${accepted}`;
    }
    if ((needsCoding || CODING.test(accepted)) && !FILES_PATH.test(request.path)) {
      const compress = needsCoding || START_PATH.test(request.path) ? compressAll : compressLong;
      compress(request, response, next);
    } else {
      next();
    }
  };
}
