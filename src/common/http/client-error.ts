import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody } from '../errors/error-body.js';
import type { Log } from '../logging/log.js';

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/**
 * Answers what Node's HTTP parser rejects, which no middleware ever sees, with the one error body. Statuses outside
 * the contract's table (408, 417, 431) become 400; the message says which it was.
 */
export function answerClientErrors(server: Server, log: Log): void {
  const latest = new WeakMap<Duplex, Exchange>();
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    latest.set(request.socket, { request, response });
  });
  // RFC 9110, section 10.1.1: a server may ignore an expectation it does not know. Node would answer an empty 417.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable || !isAnswerDue(latest.get(socket))) {
      socket.destroy();
      return;
    }
    const message = messageOf(error.code);
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
 * Whether a caller would take our 400 for the answer to the broken request. The 400 must not be taken for the answer to an earlier request
 * that is still being served. It must not be a second answer to the broken request either. Both are worse than a closed
 * connection.
 */
function isAnswerDue(exchange: Exchange | undefined): boolean {
  if (exchange === undefined) {
    return true;
  }
  const { request, response } = exchange;
  return request.complete ? response.writableFinished : !response.headersSent;
}

function messageOf(code: string | undefined): string {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 'Request headers are too large.';
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'The request did not arrive in time.';
    default:
      return 'The request is not valid HTTP.';
  }
}
