import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody } from '../errors/error-body.js';

/**
 * Answers what Node's HTTP parser rejects, which no middleware ever sees, with the one error body. Statuses outside
 * the contract's table (408, 431) become 400; the message says which it was.
 */
export function answerClientErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const body = JSON.stringify(errorBody(400, messageOf(error.code)));
    socket.end(
      [
        'HTTP/1.1 400 Bad Request',
        'Content-Type: application/json; charset=utf-8',
        'X-Content-Type-Options: nosniff',
        'Cache-Control: no-store',
        'Connection: close',
        `Content-Length: ${Buffer.byteLength(body)}`,
        '',
        body,
      ].join('\r\n'),
    );
  });
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
