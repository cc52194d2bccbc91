import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  AddressError,
  connect,
  followInstance,
  NoAnswerError,
  ServiceError,
} from '../../../packages/client/src/index.js';
import { startHttpPeer } from '../../support/peers/peer.js';
import { keptPeers } from '../../support/peers/kept-peers.js';

const UUID = '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10';

/** Tests the client against servers that do not behave like the service. */
describe('a connection of the typed client', () => {
  const keep = keptPeers();
  afterEach(async () => {
    vi.restoreAllMocks();
  });

  const server = async (...args: Parameters<typeof startHttpPeer>): Promise<string> => {
    const peer = await keep(startHttpPeer(...args));
    return peer.url;
  };

  it.each(['ftp://svc.example.com', 'svc.example.com', ''])('rejects the address %j', (url) => {
    expect(() => connect({ url })).toThrow(AddressError);
  });

  it('sends no token over the network unencrypted', () => {
    expect(() => connect({ url: 'http://svc.example.com', token: 'secret' })).toThrow(
      'Tokens are sent only over https, unless the service is on this machine.',
    );
    expect(() => connect({ url: 'http://[::1]:3000/' })).not.toThrow();
  });

  it('gets a token before each request, and sends it', async () => {
    const seen: unknown[] = [];
    const url = await server((request, response) => {
      seen.push(request.headers.authorization);
      response.setHeader('content-type', 'application/json').end('{"builds":[],"next":null}');
    });
    let count = 0;
    const svc = connect({ url, token: () => Promise.resolve(`token-${(count += 1)}`) });
    await svc.listBuilds({ path: { appId: 'app' } });
    await svc.listBuilds({ path: { appId: 'app' } });
    expect(seen).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it('does not send the token to the target of a redirect', async () => {
    const asked: unknown[] = [];
    const other = await server((request, response) => {
      asked.push(request.url);
      response.end('{}');
    });
    const url = await server((_, response) => response.writeHead(307, { location: other }).end());
    const call = connect({ url, token: 'secret' }).listBuilds({ path: { appId: 'app' } });
    await expect(call).rejects.toBeInstanceOf(NoAnswerError);
    expect(asked).toEqual([]);
  });

  it('names the origin that did not answer, but never the token', async () => {
    const url = await server((request) => request.socket.destroy());
    const error = await connect({ url, token: 'secret' })
      .listBuilds({ path: { appId: 'app' } })
      .catch((reason: unknown) => reason);
    const { origin } = new URL(url);
    const message = expect.stringContaining(`No answer from ${origin}`) as string;
    expect(error).toMatchObject({ name: 'NoAnswerError', origin, message });
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  it('applies the timeout to the rest of a response, too', async () => {
    const url = await server((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    });
    const call = connect({ url, token: 'x', timeoutMs: 50 }).listBuilds({ path: { appId: 'app' } });
    await expect(call).rejects.toMatchObject({ name: 'NoAnswerError', code: 'TIMEOUT' });
  });

  it('reports an error response that does not come from the service', async () => {
    const url = await server((_, response) =>
      response.writeHead(503, { 'retry-after': '7', 'x-request-id': 'r-1' }).end('<h1>Busy</h1>'),
    );
    const error = await connect({ url, token: 'x' })
      .listBuilds({ path: { appId: 'app' } })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      status: 503,
      message: 'The service did not say why.',
      body: '<h1>Busy</h1>',
      requestId: 'r-1',
      retryAfterSeconds: 7,
    });
  });

  it('reports why a process stopped', async () => {
    const body = { error: 'Conflict', message: 'Stopped.', status: 409, incident: { code: 'NO_BRANCH' } };
    const url = await server((_, response) =>
      response.writeHead(409, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
    const call = connect({ url, token: 'x' }).listBuilds({ path: { appId: 'app' } });
    await expect(call).rejects.toMatchObject({ status: 409, message: 'Stopped.', code: 'NO_BRANCH', body });
  });

  it('resumes a broken stream after the last event, and applies no timeout to an open stream', async () => {
    const known: unknown[] = [];
    const url = await server((request, response) => {
      known.push(request.headers['last-event-id']);
      if (known.length === 2) {
        response.writeHead(503).end();
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': a sign of life\n\n');
      response.write(`event: history\nid: ${known.length}\ndata: {"seq":${known.length}}\n\n`);
      breakOff = () => response.destroy();
      endStream = () => response.end('event: end\nid: 9\ndata: {"seq":9}\n\n');
    });
    let breakOff = (): unknown => undefined;
    let endStream = (): unknown => undefined;
    const deadlines: AbortController[] = [];
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      const deadline = new AbortController();
      deadlines.push(deadline);
      return deadline.signal;
    });
    const svc = connect({ url, token: 'x' });
    const received: unknown[] = [];
    for await (const progress of followInstance(svc, UUID, { retryDelayMs: 1 })) {
      received.push(progress);
      deadlines.forEach((deadline) => deadline.abort());
      if (progress.event === 'history') {
        (progress.id === '1' ? breakOff : endStream)();
      }
    }
    expect(deadlines).toHaveLength(3);
    expect(known).toEqual([undefined, '1', '1']);
    expect(received).toEqual([
      { event: 'history', id: '1', data: { seq: 1 } },
      { event: 'history', id: '3', data: { seq: 3 } },
      { event: 'end', id: '9', data: { seq: 9 } },
    ]);
  });

  it('gives up a stream after its retries, or when its caller aborts', async () => {
    let asked = 0;
    const url = await server((_, response) => {
      asked += 1;
      response.writeHead(503).end();
    });
    const svc = connect({ url, token: 'x' });
    const call = followInstance(svc, UUID, { retries: 2, retryDelayMs: 1 }).next();
    await expect(call).rejects.toMatchObject({ status: 503 });
    expect(asked).toBe(3);

    const leaving = new AbortController();
    const waiting = followInstance(svc, UUID, { retryDelayMs: 600_000, signal: leaving.signal }).next();
    await expect.poll(() => asked).toBe(4);
    leaving.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });
});
