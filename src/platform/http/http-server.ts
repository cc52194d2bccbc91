import { randomUUID } from 'node:crypto';
import type { Server, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import type { NextFunction, Request, Response } from 'express';
import { SettingUnusableError } from '../config/start.error.js';
import { Bulkhead } from '../concurrency/bulkhead.js';
import type { Limit } from '../config/env.js';
import type { LimitMetrics } from '../observability/metrics/metrics.js';
import { addressKey } from '../rate-limit/address-rate-limit.middleware.js';
import { InvalidRequestError } from '../errors/domain.error.js';
import { errorBody } from '../errors/error.response.dto.js';
import type { Log } from '../observability/logging/log.js';

/**
 * Waits until a server listens.
 * @param port name of the setting of its port
 * @throws SettingUnusableError when listening is not permitted or the address is in use
 */
export async function listening(port: 'PORT' | 'METRICS_PORT', started: Promise<unknown>): Promise<void> {
  try {
    await started;
  } catch (error) {
    throw new SettingUnusableError(
      `HOST and ${port} name an address on which the service cannot listen`,
      error,
    );
  }
}

/**
 * Closes new connections of a remote address that has reached its limit. Nothing is read from them, so there is no
 * response.
 */
export function limitConnections(server: Server, limit: Limit, metrics: LimitMetrics): void {
  const addresses = new Bulkhead({ capacity: limit.max, queue: 0 });
  metrics.show(limit, () => addresses.use);
  server.on('connection', (socket: Socket) => {
    try {
      socket.once('close', addresses.enter({ key: addressKey(socket.remoteAddress ?? '') }).leave);
    } catch {
      metrics.refused(limit.name);
      socket.destroy();
    }
  });
}

/** Makes Node close new connections, from any address, when the server has reached its limit. */
export function limitAllConnections(server: Server, limit: Limit, metrics: LimitMetrics): void {
  server.maxConnections = limit.max;
  metrics.show(limit, async () => ({
    all: await promisify(server.getConnections.bind(server))(),
  }));
  server.on('drop', () => metrics.refused(limit.name));
}

/** 400: HTTP/1.1 without a Host header (RFC 9112, section 3.2). */
class HostMissingError extends InvalidRequestError {
  readonly code = 'HOST_MISSING';
  constructor() {
    super('The Host header is required.');
  }
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

const MESSAGES: ReadonlyMap<string | undefined, string> = new Map([
  ['HPE_HEADER_OVERFLOW', 'Request headers are too large.'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'The request did not arrive in time.'],
]);

/**
 * Answers requests that Node's HTTP parser rejects, which no middleware sees, with the common error body. Statuses
 * outside of the contract (408, 417, 431) become 400; the message names the cause.
 */
export function answerClientErrors(server: Server, log: Log): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    latest.set(request.socket, response);
  });
  // RFC 9110, section 10.1.1: a server may ignore an unknown expectation. Node would respond with an empty 417.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable || !isAnswerDue(latest.get(socket))) {
      socket.destroy();
      return;
    }
    const message = MESSAGES.get(error.code) ?? 'The request is not valid HTTP.';
    const body = JSON.stringify(errorBody(400, message));
    const requestId = randomUUID();
    log.info('request refused before it was read', { requestId, reason: message });
    socket.end(
      [
        'HTTP/1.1 400 Bad Request',
        'Content-Type: application/json; charset=utf-8',
        'X-Content-Type-Options: nosniff',
        'Cache-Control: no-store',
        `X-Request-Id: ${requestId}`,
        'Connection: close',
        `Content-Length: ${Buffer.byteLength(body)}`,
        '',
        body,
      ].join('\r\n'),
    );
  });
}

/**
 * Returns whether a caller would take our 400 for the response to the broken request. It must not look like the
 * response to an earlier request that is still in progress, nor be a second response to the broken one. Both are worse
 * than a closed connection.
 */
function isAnswerDue(response: ServerResponse | undefined): boolean {
  if (response === undefined) {
    return true;
  }
  return response.req.complete ? response.writableFinished : !response.headersSent;
}
