import { isIPv6 } from 'node:net';
import type { Request, RequestHandler } from 'express';
import type { Env } from '../../config/env.js';
import { CORS_HEADERS, START_METHODS } from './cors.js';
import { START_PATH } from './start-path.js';

/**
 * Express middleware that puts the CORS headers of the contract on every answer to a process start, refusals and that to its
 * preflight too (docs/contract.md, section 4.1). It comes before the one of CORS, which writes the origin of callers that may
 * call; for all others the only one is our own.
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

/** Where the connection ended. The Host header is whatever a caller wants it to be. */
function listeningOrigin({ protocol, socket }: Request): string {
  const { localAddress = '', localPort } = socket;
  const address = localAddress.replace(/^::ffff:/i, '');
  return `${protocol}://${isIPv6(address) ? `[${address}]` : address}:${localPort}`;
}
