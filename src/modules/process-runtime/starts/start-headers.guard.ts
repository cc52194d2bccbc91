import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';

const METHODS = 'GET, PUT, POST, DELETE, PATCH';
const HEADERS = [
  'DNT',
  'Keep-Alive',
  'User-Agent',
  'X-Requested-With',
  'If-Modified-Since',
  'Cache-Control',
  'Content-Type',
  'Range',
  'Authorization',
  'Idempotency-Key',
  'svc-platform',
].join(', ');

/**
 * Puts the CORS headers of the contract on the answer itself, not only on that of a preflight (docs/contract.md, section 4.1).
 * An origin that may call has been allowed before; for all others the only one is our own. A guard that refuses nobody, and no
 * interceptor: the framework makes streams for interceptors.
 */
@Injectable()
export class StartHeadersGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const http = context.switchToHttp();
    const response = http.getResponse<Response>();
    const { protocol, headers } = http.getRequest<Request>();
    response.setHeader('Access-Control-Allow-Credentials', 'true');
    response.setHeader('Access-Control-Allow-Headers', HEADERS);
    response.setHeader('Access-Control-Allow-Methods', METHODS);
    if (!response.hasHeader('Access-Control-Allow-Origin') && headers.host !== undefined) {
      response.setHeader('Access-Control-Allow-Origin', `${protocol}://${headers.host}`);
    }
    return true;
  }
}
