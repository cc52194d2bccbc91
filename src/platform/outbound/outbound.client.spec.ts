import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, describe, expect, it, vi } from 'vitest';

import { AddressPolicy } from './address-policy.js';
import { Bulkhead } from '../concurrency/bulkhead.js';
import { OutboundClient, type OutboundClientOptions } from './outbound.client.js';

const LIMITS = { deadlineMs: 2_000, maxResponseBytes: 200_000, maxTotalBytes: 400_000 };
const servers: Server[] = [];

async function serve(listener: RequestListener): Promise<{ port: number; sockets: () => Promise<number> }> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets = () =>
    new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
  return { port: (server.address() as AddressInfo).port, sockets };
}

function client(overrides: Partial<OutboundClientOptions> = {}): OutboundClient {
  const policy = new AddressPolicy({ allow: [], allowLoopback: true });
  return new OutboundClient({ policy, maxRedirects: 2, connectTimeoutMs: 1_000, ...overrides });
}

const resolveTo =
  (...answers: string[][]) =>
  () => {
    const answer = answers.length > 1 ? (answers.shift() ?? []) : (answers[0] ?? []);
    return Promise.resolve(answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
  };

describe('OutboundClient', () => {
  afterEach(() => {
    servers.splice(0).forEach((server) => {
      server.closeAllConnections();
      server.close();
    });
  });

  it('calls an allowed party without compression and leaves no socket open', async () => {
    let encoding: string | undefined;
    const { port, sockets } = await serve((request, response) => {
      encoding = request.headers['accept-encoding'] as string;
      response.end('hello');
    });
    const text = await client().run(LIMITS, async (operation) =>
      (await operation.fetch(`http://127.0.0.1:${port}/`)).text(),
    );
    expect([text, encoding]).toEqual(['hello', 'identity']);
    await vi.waitFor(async () => expect(await sockets()).toBe(0));
  });

  it('connects to the address that it checked, even if the name resolves differently later', async () => {
    const { port } = await serve((_request, response) => response.end('inside'));
    const resolver = vi.fn(resolveTo(['127.0.0.1'], ['169.254.169.254']));
    const rebinding = client({ resolver });
    await rebinding.run(LIMITS, async (operation) => {
      const response = await operation.fetch(`http://rebind.example:${port}/`);
      await expect(response.text()).resolves.toBe('inside');
    });
    expect(resolver).toHaveBeenCalledTimes(1);
    await expect(
      rebinding.run(LIMITS, (operation) => operation.fetch(`http://rebind.example:${port}/`)),
    ).rejects.toMatchObject({ failure: 'blocked' });
  });

  it.each([
    [['93.184.215.14', '10.0.0.1'], 'blocked'],
    [['::ffff:169.254.169.254'], 'blocked'],
    [['fe80::1%eth0'], 'blocked'],
    [[], 'dns'],
  ])('rejects a name that resolves to %o', async (addresses, failure) => {
    const sut = client({ resolver: resolveTo(addresses) });
    await expect(
      sut.run(LIMITS, (operation) => operation.fetch('http://name.example/')),
    ).rejects.toMatchObject({ failure });
  });

  it.each([
    ['/again', 'ok', undefined],
    ['http://localhost:1/', undefined, 'redirect'],
    ['http://169.254.169.254/', undefined, 'redirect'],
    ['/loop', undefined, 'redirect'],
    ['http://', undefined, 'redirect'],
  ])('a redirect to %s: %s %s', async (location, text, failure) => {
    const methods: string[] = [];
    const { port } = await serve((request, response) => {
      methods.push(request.method ?? '');
      if (request.url === '/again') {
        response.end('ok');
      } else {
        response.writeHead(307, { location }).end();
      }
    });
    const outcome = client().run(LIMITS, async (operation) =>
      (await operation.fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' })).text(),
    );
    await (failure === undefined
      ? expect(outcome).resolves.toBe(text)
      : expect(outcome).rejects.toMatchObject({ failure }));
    expect(new Set(methods)).toEqual(new Set(['POST']));
  });

  it.each([
    ['one response', 300_000, 1, 'too_large'],
    ['all responses together', 150_000, 3, 'too_large'],
    ['responses within both limits', 150_000, 2, undefined],
  ])('limits the bytes of %s', async (_name, bytes, calls, failure) => {
    const { port } = await serve((_request, response) => response.end(Buffer.alloc(bytes, 'x')));
    const outcome = client().run(LIMITS, async (operation) => {
      for (let call = 0; call < calls; call += 1) {
        const response = await operation.fetch(`http://127.0.0.1:${port}/`);
        await response.text();
      }
    });
    await (failure === undefined
      ? expect(outcome).resolves.toBeUndefined()
      : expect(outcome).rejects.toMatchObject({ failure }));
  });

  it('aborts the call to a silent party at the deadline and closes the socket', async () => {
    const { port, sockets } = await serve(() => undefined);
    const startedAt = performance.now();
    await expect(
      client().run({ ...LIMITS, deadlineMs: 200 }, (operation) =>
        operation.fetch(`http://127.0.0.1:${port}/`),
      ),
    ).rejects.toMatchObject({ failure: 'timeout' });
    expect(performance.now() - startedAt).toBeLessThan(600);
    await vi.waitFor(async () => expect(await sockets()).toBe(0));
  });

  it('does not record a failure when the caller cancels', async () => {
    const { port } = await serve(() => undefined);
    await client().run(LIMITS, async (operation) => {
      const abort = new AbortController();
      const call = operation.fetch(`http://127.0.0.1:${port}/`, { signal: abort.signal });
      abort.abort();
      await expect(call).rejects.toMatchObject({ name: 'AbortError' });
      expect(operation.failure).toBeUndefined();
    });
  });

  it('makes a large response wait for another one, and aborts the other one when it stalls', async () => {
    const { port } = await serve((request, response) => {
      response.write(Buffer.alloc(100_000, 'x'));
      if (request.url === '/good') {
        response.end();
      }
    });
    const sut = client({ largeAnswers: new Bulkhead({ capacity: 1, leaseMs: 100 }) });
    const read = (path: string) =>
      sut.run(LIMITS, async (operation) => (await operation.fetch(`http://127.0.0.1:${port}${path}`)).text());
    const stalling = read('/stalls');
    stalling.catch(() => undefined);
    await sleep(50);
    await expect(read('/good')).resolves.toHaveLength(100_000);
    await expect(stalling).rejects.toMatchObject({ failure: 'busy' });
  });
});
