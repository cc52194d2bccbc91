import type { RequestListener, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

import { type Peer, startTcpPeer } from './peer.js';

const MEGABYTE = 1_048_576;
const CHUNK = Buffer.alloc(65_536, ' ');
const HUGE_BYTES = 1_024 * MEGABYTE;

/** Sends one gigabyte of JSON, with or without `content-length`. */
export const hugeAnswer =
  (announced: boolean): RequestListener =>
  (_request, response) => {
    const headers = {
      'content-type': 'application/json',
      ...(announced && { 'content-length': HUGE_BYTES }),
    };
    response.writeHead(200, headers);
    pour(response, CHUNK, HUGE_BYTES);
  };

/** Sends 200 MB of JSON as 200 kB of gzip, although the client did not accept an encoding. */
export const gzipBomb: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(BOMB);
};
// 200 gzip members of one megabyte each form one stream, so this process never holds 200 MB.
const BOMB = Buffer.concat(Array<Buffer>(200).fill(gzipSync(Buffer.alloc(MEGABYTE, ' '))));

/** Sends the body at one byte per second. */
export const dripBody: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  every(1_000, response, () => response.write(' '));
};

/** Sends endless headers at one byte per second. Writes to the socket directly. */
export const dripHeaders: RequestListener = (_request, response) => {
  const { socket } = response;
  socket?.write('HTTP/1.1 200 OK\r\nx-slow: ');
  every(1_000, response, () => socket?.write('x'));
};

/** Accepts the request and never answers. */
export const neverAnswers: RequestListener = () => undefined;

/** Redirects every request with 307, which keeps the method. */
export const redirectsTo =
  (location: string): RequestListener =>
  (_request, response) =>
    response.writeHead(307, { location }).end();

/** Redirects endlessly within its own origin. */
export const redirectsForEver: RequestListener = (request, response) =>
  response.writeHead(307, { location: `${request.url}x` }).end();

/** Sends 2 MB of JSON that take about 60 MB when parsed. */
export const denseJson: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`{"jsonrpc":"2.0","id":1000001,"result":{"tools":[${'{},'.repeat(690_000)}{}]}}`);
};

/** Sends an event stream that contains only keep-alive comments. */
export const commentsOnly: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  every(50, response, () => response.write(': keep-alive\n\n'));
};

/** Sends an event stream with one event of one gigabyte. */
export const hugeEvent: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: ');
  pour(response, CHUNK, HUGE_BYTES);
};

/** Sends an event stream that ends without an answer. */
export const endsStream: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': bye\n\n');
};

/** Resets the connection (RST) instead of answering. */
export const resets: RequestListener = (request) => {
  request.socket.resetAndDestroy();
};

/** Sends an HTML page with status 200. */
export const webPage: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Welcome</title>');
};

/** Sends JSON with status 200 that is neither JSON-RPC nor a token. */
export const unrelatedJson: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":"world"}');
};

/** Sends invalid JSON with a JSON content type. */
export const brokenJson: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":');
};

/** Answers 401 to every request. */
export const unauthorized: RequestListener = (_request, response) => {
  response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
};

/** Answers 403 to every request. */
export const forbidden: RequestListener = (_request, response) => {
  response.writeHead(403).end();
};

/** Answers 500 with a text that the service must not expose. */
export const failsLoudly: RequestListener = (_request, response) => {
  response.writeHead(500, { 'content-type': 'text/plain' }).end('stack trace with CANARY-UPSTREAM-TEXT');
};

/** Answers 404 to every request. */
export const notFound: RequestListener = (_request, response) => {
  response.writeHead(404).end();
};

/** Sends JSON with arrays nested 200,000 levels deep. */
export const deepJson: RequestListener = (_request, response) => {
  const depth = 200_000;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`{"jsonrpc":"2.0","id":1000001,"result":{"tools":${'['.repeat(depth)}${']'.repeat(depth)}}}`);
};

/** Starts a peer that sends garbage where TLS is expected. */
export function startTlsGarbage(): Promise<Peer> {
  return startTcpPeer((socket) => socket.end('this is not a TLS record at all\r\n\r\n'), 'https');
}

/** Starts a peer that sends garbage where HTTP is expected. */
export function startHttpGarbage(): Promise<Peer> {
  return startTcpPeer((socket) => socket.end('\u0000\u0001 garbage \r\n\r\n'), 'http');
}

function pour(response: ServerResponse, chunk: Buffer, total: number): void {
  let sent = 0;
  const more = (): void => {
    while (sent < total && !response.destroyed) {
      sent += chunk.byteLength;
      if (!response.write(chunk)) {
        response.once('drain', more);
        return;
      }
    }
    response.end();
  };
  more();
}

function every(ms: number, response: ServerResponse, work: () => void): void {
  const timer = setInterval(work, ms);
  response.once('close', () => clearInterval(timer));
}
