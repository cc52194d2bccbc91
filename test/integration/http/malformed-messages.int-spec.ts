import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { connectionTestPath, createPath } from '../../support/factories.js';
import { startHttpPeer } from '../../support/peers/peer.js';
import { neverAnswers } from '../../support/peers/pathologies.js';
import { sendRaw, type RawAnswer } from './raw-http.js';
import { IN_TIME_MS } from '../../support/patience.js';

const HOST = 'Host: 127.0.0.1\r\n';
const GET = `GET /livez HTTP/1.1\r\n${HOST}`;
const POST = `PATCH /livez HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`;
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n\r\n`;

/** Messages that the HTTP parser rejects. */
const REFUSED: [string, string | Buffer][] = [
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['the start of a TLS session', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x0d, 0x0a])],
  ['HTTP/2 without negotiation', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['an unknown version', `GET /livez HTTP/9.9\r\n${HOST}\r\n`],
  ['an unknown method', `BREW /livez HTTP/1.1\r\n${HOST}\r\n`],
  ['a method in lower case', `get /livez HTTP/1.1\r\n${HOST}\r\n`],
  ['a space in the path', `GET /li vez HTTP/1.1\r\n${HOST}\r\n`],
  ['NUL in the path', `GET /li\0vez HTTP/1.1\r\n${HOST}\r\n`],
  ['no Host header', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ['a header without a colon', `${GET}Broken\r\n\r\n`],
  ['a space before the colon', `${GET}X-A : b\r\n\r\n`],
  ['a folded header', `${GET}X-A: b\r\n c\r\n\r\n`],
  ['NUL in a header', `${GET}X-A: b\0c\r\n\r\n`],
  ['a bare carriage return', `${GET}X-A: b\rX-B: c\r\n\r\n`],
  ['a header of 20 kB', `${GET}X-A: ${'a'.repeat(20_000)}\r\n\r\n`],
  ['headers of 64 kB in all', `${GET}${'X-A: aaaaaaaaaaaa\r\n'.repeat(4_000)}\r\n`],
  ['a path of 20 kB', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`],
  ['two content lengths', `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
  ['a list of content lengths', `${POST}Content-Length: 2, 2\r\n\r\n{}`],
  ['a negative content length', `${POST}Content-Length: -1\r\n\r\n{}`],
  ['a content length with a sign', `${POST}Content-Length: +2\r\n\r\n{}`],
  ['a hexadecimal content length', `${POST}Content-Length: 0x2\r\n\r\n{}`],
  ['a content length beyond 64 bits', `${POST}Content-Length: 99999999999999999999999\r\n\r\n{}`],
  ['content length and chunks', `${POST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunks that are not the last coding', `${POST}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
];

/** Messages with a valid head, which the route answers before the parser finds the fault. */
const BROKEN_BODIES: [string, string][] = [
  ['an unknown transfer coding', `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['a chunk size that is no number', `${CHUNKED}zz\r\n{}\r\n0\r\n\r\n`],
  ['a chunk size beyond 64 bits', `${CHUNKED}fffffffffffffffff\r\n{}\r\n0\r\n\r\n`],
  ['a chunk without its line end', `${CHUNKED}2\r\n{}xx0\r\n\r\n`],
  ['a chunk extension of 20 kB', `${CHUNKED}2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`],
];

describe('messages that are not valid HTTP', () => {
  let app: TestApp;
  let token: string;
  beforeAll(async () => {
    app = await TestApp.start({
      'httpLimits.headersTimeoutMs': '1000',
      'httpLimits.requestTimeoutMs': '1000',
      'mcpLimits.testTimeoutMs': '1500',
    });
    token = await app.tokenWith({});
  });
  afterAll(async () => {
    expect((await app.request('GET', '/livez')).status).toBe(200);
    await app.close();
  });

  it.each(REFUSED)('%s is answered 400 with the error body and a closed socket', async (_, message) => {
    expectRefused(await sendRaw(app.url, { parts: [message] }));
  });

  it.each(BROKEN_BODIES)('%s closes the connection after one JSON answer', async (_, message) => {
    const answer = await sendRaw(app.url, { parts: [message] });
    expect(answer.isClosed).toBe(true);
    expect(answer.text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(answer.status).toBe(405);
    expect(jsonOf(answer)).toMatchObject({ message: 'This endpoint has no such method.', status: 405 });
  });

  it('a broken chunk of a body that a route reads is answered 400', async () => {
    const head =
      `PATCH ${createPath()} HTTP/1.1\r\n${HOST}Authorization: Bearer ${token}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    expectRefused(await sendRaw(app.url, { parts: [head, '2\r\n{"', 'zz\r\n'] }));
  });

  it('CONNECT is answered by closing the socket', async () => {
    const answer = await sendRaw(app.url, { parts: [`CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`] });
    expect(answer).toMatchObject({ text: '', isClosed: true });
  });

  it('a request to upgrade the protocol is ignored', async () => {
    const upgrade = `${GET}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`;
    expect(await sendRaw(app.url, { parts: [upgrade] })).toMatchObject({ status: 200, isClosed: true });
  });

  it.each(['Expect: 200-ok', 'Expect: 100-continue'])(
    '%s does not change the answer',
    async (expectation) => {
      const answer = await sendRaw(app.url, { parts: [`${GET}${expectation}\r\nConnection: close\r\n\r\n`] });
      expect(answer.text.replace('HTTP/1.1 100 Continue\r\n\r\n', '')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    },
  );

  it('HTTP/1.0 without a Host header is served', async () => {
    expect(await sendRaw(app.url, { parts: ['GET /livez HTTP/1.0\r\n\r\n'] })).toMatchObject({ status: 200 });
  });

  it('the absolute form of a request target is reduced to its path', async () => {
    const message = `GET http://evil.example/livez HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
    expect(await sendRaw(app.url, { parts: [message] })).toMatchObject({ isClosed: true, status: 200 });
  });

  it('headers that arrive too slowly are answered 400 in time', async () => {
    const started = performance.now();
    const answer = await sendRaw(app.url, {
      parts: ['GET /livez HTTP/1.1\r\n', ...Array<string>(400).fill('X-A: b\r\n')],
      pauseMs: 150,
      patienceMs: 2 * IN_TIME_MS,
    });
    expect(performance.now() - started).toBeLessThan(IN_TIME_MS);
    expectRefused(answer, 'The request did not arrive in time.');
  });

  it('a body that arrives too slowly is answered 400 in time', async () => {
    const head =
      `PATCH ${createPath()} HTTP/1.1\r\n${HOST}Authorization: Bearer ${token}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n';
    const started = performance.now();
    const answer = await sendRaw(app.url, {
      parts: [head, ...Array<string>(400).fill(' ')],
      pauseMs: 150,
      patienceMs: 2 * IN_TIME_MS,
    });
    expect(performance.now() - started).toBeLessThan(IN_TIME_MS);
    expectRefused(answer, 'The request did not arrive in time.');
  });

  it('an invalid message after a pending request closes the connection without an answer', async () => {
    const peer = await startHttpPeer(neverAnswers);
    const body = JSON.stringify({ baseUrl: peer.url, authorization: { type: 'NO_AUTH' } });
    const slow =
      `PATCH ${connectionTestPath()} HTTP/1.1\r\n${HOST}Authorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const answer = await sendRaw(app.url, { parts: [slow, 'garbage\r\n\r\n'], pauseMs: 100 });
    expect(answer).toMatchObject({ text: '', isClosed: true });
    await peer.close();
  });
});

function expectRefused(answer: RawAnswer, message?: string): void {
  expect(answer.isClosed).toBe(true);
  expect(answer.text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  expect(answer.status).toBe(400);
  expect(answer.text).toMatch(/^content-type: application\/json; charset=utf-8\r$/im);
  expect(answer.text).toMatch(/^x-content-type-options: nosniff\r$/im);
  expect(answer.text).toMatch(/^cache-control: no-store\r$/im);
  expect(answer.text).toMatch(/^x-request-id: [\w-]{36}\r$/im);
  expect(answer.text).toMatch(/^connection: close\r$/im);
  expect(jsonOf(answer)).toEqual({
    error: 'Bad Request',
    message: message ?? expect.any(String),
    status: 400,
  });
}

function jsonOf({ body }: RawAnswer): unknown {
  return JSON.parse(body);
}
