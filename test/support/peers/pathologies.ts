import type { RequestListener, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

import { type Peer, startTcpPeer } from './peer.js';

const MEGABYTE = 1_048_576;
const CHUNK = Buffer.alloc(65_536, ' ');
const HUGE_BYTES = 1_024 * MEGABYTE;

/** A JSON answer of a gigabyte; with `content-length` announced or not. */
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

/** 200 MB of JSON in 200 kB of gzip, although no encoding was asked for. */
export const gzipBomb: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(BOMB);
};
// 200 members of a megabyte each: one gzip stream to any reader, and no 200 MB in this process to make it.
const BOMB = Buffer.concat(Array<Buffer>(200).fill(gzipSync(Buffer.alloc(MEGABYTE, ' '))));

/** One byte of the body a second. */
export const dripBody: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  every(1_000, response, () => response.write(' '));
};

/** Headers that never end, one byte a second; needs the bare socket. */
export const dripHeaders: RequestListener = (_request, response) => {
  const { socket } = response;
  socket?.write('HTTP/1.1 200 OK\r\nx-slow: ');
  every(1_000, response, () => socket?.write('x'));
};

/** Takes the request and says nothing. */
export const neverAnswers: RequestListener = () => undefined;

/** Redirects every request, method kept. */
export const redirectsTo =
  (location: string): RequestListener =>
  (_request, response) =>
    response.writeHead(307, { location }).end();

/** Redirects within its own origin for ever. */
export const redirectsForEver: RequestListener = (request, response) =>
  response.writeHead(307, { location: `${request.url}x` }).end();

/** Two megabytes of JSON that become some sixty when parsed. */
export const denseJson: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`{"jsonrpc":"2.0","id":1000001,"result":{"tools":[${'{},'.repeat(690_000)}{}]}}`);
};

/** An event stream of nothing but keep-alive comments. */
export const commentsOnly: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  every(50, response, () => response.write(': keep-alive\n\n'));
};

/** An event stream with one event of a gigabyte. */
export const hugeEvent: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: ');
  pour(response, CHUNK, HUGE_BYTES);
};

/** An event stream that ends without having answered. */
export const endsStream: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': bye\n\n');
};

/** Resets the connection (RST) instead of answering. */
export const resets: RequestListener = (request) => {
  request.socket.resetAndDestroy();
};

/** A web page with status 200. */
export const webPage: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Welcome</title>');
};

/** JSON with status 200 that is neither JSON-RPC nor a token. */
export const unrelatedJson: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":"world"}');
};

/** Text that claims to be JSON. */
export const brokenJson: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":');
};

/** Refuses every credential. */
export const unauthorized: RequestListener = (_request, response) => {
  response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
};

/** Denies access to everybody. */
export const forbidden: RequestListener = (_request, response) => {
  response.writeHead(403).end();
};

/** Fails with a page full of text that must not be repeated. */
export const failsLoudly: RequestListener = (_request, response) => {
  response.writeHead(500, { 'content-type': 'text/plain' }).end('stack trace with CANARY-UPSTREAM-TEXT');
};

/** Nothing is there. */
export const notFound: RequestListener = (_request, response) => {
  response.writeHead(404).end();
};

/** A body nested 200,000 arrays deep. */
export const deepJson: RequestListener = (_request, response) => {
  const depth = 200_000;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`{"jsonrpc":"2.0","id":1000001,"result":{"tools":${'['.repeat(depth)}${']'.repeat(depth)}}}`);
};

/** Speaks garbage where TLS is expected. */
export function startTlsGarbage(): Promise<Peer> {
  return startTcpPeer((socket) => socket.end('this is not a TLS record at all\r\n\r\n'), 'https');
}

/** Speaks garbage where HTTP is expected. */
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
