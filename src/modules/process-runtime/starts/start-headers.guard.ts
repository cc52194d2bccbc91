import { isIPv6 } from 'node:net';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CORS_HEADERS, START_METHODS } from '../../../common/http/cors.js';
import { Env } from '../../../config/env.js';

/**
 * Puts the CORS headers of the contract on the answer itself, not only on that of a preflight (docs/contract.md, section 4.1).
 * An origin that may call has been allowed before; for all others the only one is our own. A guard that refuses nobody, and no
 * interceptor: the framework makes streams for interceptors.
 */
@Injectable()
export class StartHeadersGuard implements CanActivate {
  private readonly publicOrigin: string | undefined;

  constructor(env: Env) {
    this.publicOrigin = env.get('PUBLIC_ORIGIN');
  }

  canActivate(context: ExecutionContext): true {
    const http = context.switchToHttp();
    const response = http.getResponse<Response>();
    response.setHeader('Access-Control-Allow-Credentials', 'true');
    response.setHeader('Access-Control-Allow-Headers', CORS_HEADERS);
    response.setHeader('Access-Control-Allow-Methods', START_METHODS);
    if (!response.hasHeader('Access-Control-Allow-Origin')) {
      const own = this.publicOrigin ?? listeningOrigin(http.getRequest<Request>());
      response.setHeader('Access-Control-Allow-Origin', own);
    }
    return true;
  }
}

/** Where the connection ended. The Host header is whatever a caller wants it to be. */
function listeningOrigin({ protocol, socket }: Request): string {
  const { localAddress = '', localPort } = socket;
  const address = localAddress.replace(/^::ffff:/i, '');
  return `${protocol}://${isIPv6(address) ? `[${address}]` : address}:${localPort}`;
}
