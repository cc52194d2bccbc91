import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { TestApp, type TestResponse, limitMetrics } from '../../support/app.js';
import { connectionTestPath, createPath, createSystemBody } from '../../support/factories.js';

const BODY_BYTES = 40_000;
const LONG = '600000';

/** Room for two of the large bodies. */
const AT_ONCE = { 'httpLimits.callerBodyBytes': String(2 * BODY_BYTES) };

describe('large request bodies of one caller', () => {
  let app: TestApp;
  const open: ClientRequest[] = [];
  afterEach(async () => {
    open.splice(0).forEach((sent) => sent.destroy());
    await app.close();
  });

  /** Trailing spaces are valid JSON. */
  const large = JSON.stringify(createSystemBody()).padEnd(BODY_BYTES);
  const send = (rawBody = large, token?: string): Promise<TestResponse> =>
    app.request('PATCH', createPath(), { rawBody, ...(token === undefined ? {} : { token }) });

  /** Starts a request that occupies its share until it is finished or destroyed: only half of its body is sent. */
  async function begin(): Promise<ClientRequest> {
    const token = await app.tokenWith({ exp: Math.floor(Date.now() / 1_000) + 3_600 });
    const sent = request(`${app.url}${createPath()}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': BODY_BYTES,
        expect: '100-continue',
      },
    });
    sent.on('error', () => undefined);
    open.push(sent);
    sent.flushHeaders();
    // Node's HTTP server sends this when the handler gets the request.
    await once(sent, 'continue');
    sent.write(large.slice(0, BODY_BYTES / 2));
    return sent;
  }

  async function sendChunked(body: string, headers: Record<string, string>): Promise<number | undefined> {
    const token = await app.tokenWith({ exp: Math.floor(Date.now() / 1_000) + 3_600 });
    const sent = request(`${app.url}${createPath()}`, {
      method: 'PATCH',
      headers: { ...headers, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    sent.end(body);
    const [answer] = await answered;
    answer.resume();
    return answer.statusCode;
  }

  async function finish(sent: ClientRequest): Promise<number | undefined> {
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    sent.end(large.slice(BODY_BYTES / 2));
    const [answer] = await answered;
    answer.resume();
    return answer.statusCode;
  }

  it('are answered 429 when they wait too long', async () => {
    app = await TestApp.start({ ...AT_ONCE, 'httpLimits.callerBodyWaitMs': '100' });
    await begin();
    await begin();
    await expect.poll(async () => (await send()).status).toBe(429);
    const refused = await send();
    expect(refused.body).toEqual({
      error: 'Too Many Requests',
      message: 'Too many requests.',
      status: 429,
      details: `caller-body-bytes is ${2 * BODY_BYTES}. Try again in 1 seconds.`,
    });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await limitMetrics(app, 'caller-body-bytes')).toEqual({
      maximum: 2 * BODY_BYTES,
      refusals: expect.toSatisfy((count: number) => count >= 2),
      all: 2 * BODY_BYTES,
      largest: 2 * BODY_BYTES,
    });
  });

  it('do not delay small ones or those of other callers', async () => {
    app = await TestApp.start({ ...AT_ONCE, 'httpLimits.callerBodyWaitMs': '100' });
    await begin();
    await begin();
    await expect.poll(async () => (await send()).status).toBe(429);
    expect((await send(JSON.stringify(createSystemBody()))).status).toBe(201);
    const scope = 'openid integration:manage';
    const other = await app.tokenWith({ sub: 'somebody-else', scope });
    expect((await send(JSON.stringify(createSystemBody()).padEnd(BODY_BYTES), other)).status).toBe(201);
  });

  it('proceed when earlier ones have ended, with or without a response', async () => {
    app = await TestApp.start({ ...AT_ONCE, 'httpLimits.callerBodyWaitMs': LONG });
    const first = await begin();
    const second = await begin();
    const waiting = [1, 2, 3].map(() => send(JSON.stringify(createSystemBody()).padEnd(BODY_BYTES)));
    second.destroy();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(await finish(first)).toBe(201);
  });

  it('release their share when their connection breaks while they wait behind another response', async () => {
    const forEver = { 'mcpLimits.testTimeoutMs': '300000', 'httpLimits.callerBodyWaitMs': LONG };
    app = await TestApp.start({ 'httpLimits.callerBodyBytes': String(BODY_BYTES), ...forEver });
    const held: Socket[] = [];
    const silent = [0, 1].map(() => createServer((socket) => held.push(socket)).listen(0, '127.0.0.1'));
    const connected = silent.map((server) => once(server, 'connection'));
    await Promise.all(silent.map((server) => once(server, 'listening')));
    const [first = '', second = ''] = silent.map((server) => {
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
      return JSON.stringify({ baseUrl, authorization: { type: 'NO_AUTH' } });
    });
    const token = await app.tokenWith({ exp: Math.floor(Date.now() / 1_000) + 3_600 });
    const message = (body: string): string =>
      `PATCH ${connectionTestPath()} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    socket.write(message(first) + message(second.padEnd(BODY_BYTES)));
    // The service has read both requests completely, so no read can fail any more.
    await Promise.all(connected);
    socket.destroy();
    expect((await send(JSON.stringify(createSystemBody()).padEnd(BODY_BYTES))).status).toBe(201);
    held.forEach((each) => each.destroy());
    silent.forEach((server) => server.close());
  });

  it('count by their actual size if they have no Content-Length', async () => {
    app = await TestApp.start({ 'httpLimits.callerBodyBytes': '1', 'httpLimits.callerBodyWaitMs': '100' });
    const chunked = { 'transfer-encoding': 'chunked' };
    const all = Array.from({ length: 5 }, () => sendChunked(JSON.stringify(createSystemBody()), chunked));
    expect(await Promise.all(all)).toEqual([201, 201, 201, 201, 201]);
  });

  it('proceed one by one if each is larger than the limit', async () => {
    app = await TestApp.start({ 'httpLimits.callerBodyBytes': '1', 'httpLimits.callerBodyWaitMs': LONG });
    const all = Array.from({ length: 5 }, () => send(JSON.stringify(createSystemBody()).padEnd(BODY_BYTES)));
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
  });

  it('do not wait if there is no limit', async () => {
    app = await TestApp.start({ 'httpLimits.callerBodyBytes': '0', 'httpLimits.callerBodyWaitMs': '100' });
    const sent = [await begin(), await begin(), await begin()];
    expect((await send(JSON.stringify(createSystemBody()).padEnd(BODY_BYTES))).status).toBe(201);
    sent.forEach((each) => each.destroy());
  });
});
