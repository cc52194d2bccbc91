import type { Server } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { InvalidRequestError } from '../errors/domain.error.js';

/** 400: HTTP/1.1 without a Host header (RFC 9112, section 3.2). */
class HostMissingError extends InvalidRequestError {
  readonly code = 'HOST_MISSING';
  constructor() {
    super('The Host header is required.');
  }
}

/** Leaves the check of the Host header to {@link requireHost}: Node's own answers 400 with an empty body. */
export function checkHostInMiddleware(server: Server): void {
  // An option of createServer that the framework cannot pass; Node reads it from the server with every request.
  (server as Server & { requireHostHeader: boolean }).requireHostHeader = false;
}

/**
 * Express middleware that refuses HTTP/1.1 requests without a Host header.
 * @throws HostMissingError
 */
export function requireHost(request: Request, _response: Response, next: NextFunction): void {
  if (request.httpVersion === '1.1' && request.headers.host === undefined) {
    throw new HostMissingError();
  }
  next();
}
