import { connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { request, type ClientRequest } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { TestApp, limitMetrics } from '../../support/app.js';
import { createPath, listPath } from '../../support/factories.js';
import { taskProcess, userTask } from '../../support/runtime/process-files.js';
import { publish } from '../../support/runtime/publish.js';
import { eventually, instancePath, started } from '../../support/runtime/runtime-client.js';

const AT_ONCE = 3;

describe('limits on concurrent requests and connections', () => {
  let app: TestApp;
  const open: { destroy(): unknown }[] = [];
  afterEach(async () => {
    open.splice(0).forEach((one) => one.destroy());
    await app.close();
  });

  const bearer = async (subject: string): Promise<string> =>
    app.tokenWith({ sub: subject, exp: Math.floor(Date.now() / 1_000) + 3_600 });

  /** Sends a request that stays in progress until it is destroyed, because its body is never sent. */
  function hang(token: string): ClientRequest {
    const sent = request(`${app.url}${createPath()}`, {
      method: 'PATCH',
      agent: false,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': 10,
      },
    });
    sent.on('error', () => undefined);
    sent.flushHeaders();
    open.push(sent);
    return sent;
  }

  const list = (token: string) => app.request('GET', listPath(), { token });

  describe('concurrent requests of one caller', () => {
    it('are limited to httpLimits.callerRequests, without affecting other callers', async () => {
      app = await TestApp.start({
        'httpLimits.callerRequests': String(AT_ONCE),
        'httpLimits.callerAtWork': '8',
      });
      const [greedy, modest] = [await bearer('greedy'), await bearer('modest')];
      const hanging = Array.from({ length: AT_ONCE }, () => hang(greedy));
      const refused = await eventually(
        () => list(greedy),
        ({ status }) => status === 429,
      );

      expect(refused.headers.get('retry-after')).toBe('1');
      expect(refused.body).toEqual({
        error: 'Too Many Requests',
        message: 'Too many requests at the same time.',
        status: 429,
        details: `One caller may have ${AT_ONCE} requests under way (caller-requests). Try again when others have been answered.`,
      });
      expect((await list(modest)).status).not.toBe(429);
      hang(modest);
      await eventually(
        () => limitMetrics(app, 'caller-requests'),
        ({ all }) => all === AT_ONCE + 1,
      );
      expect(await limitMetrics(app, 'caller-requests')).toEqual({
        maximum: AT_ONCE,
        refusals: expect.toSatisfy((count: number) => count >= 1),
        all: AT_ONCE + 1,
        largest: AT_ONCE,
      });
      expect(await limitMetrics(app, 'caller-requests-at-work')).toMatchObject({
        all: AT_ONCE + 1,
        largest: AT_ONCE,
      });

      hanging[0]?.destroy();
      await eventually(
        () => list(greedy),
        ({ status }) => status !== 429,
      );
    });

    it('are counted until they are answered, and no longer', async () => {
      app = await TestApp.start({ 'httpLimits.callerRequests': '1' });
      const token = await bearer('steady');
      for (let index = 0; index < 5; index += 1) {
        expect((await list(token)).status).not.toBe(429);
      }
      expect((await app.request('PATCH', createPath(), { token, rawBody: '{' })).status).toBe(400);
      expect((await list(token)).status).not.toBe(429);
    });

    it('do not include one that was aborted while it waited', async () => {
      app = await TestApp.start({ 'httpLimits.callerAtWork': '1', 'httpLimits.callerRequests': '2' });
      const token = await bearer('leaving');
      const [first, second] = [hang(token), hang(token)];
      await eventually(
        () => list(token),
        ({ status }) => status === 429,
      );
      second.destroy();
      first.destroy();
      await eventually(
        () => list(token),
        ({ status }) => status !== 429,
      );
      for (let index = 0; index < 3; index += 1) {
        expect((await list(token)).status).not.toBe(429);
      }
    });

    it('do not include progress streams, which have limits of their own', async () => {
      app = await TestApp.start({ 'httpLimits.callerRequests': '1', JOBS_CONCURRENCY: '0' });
      const published = await publish(app, { bpmn: taskProcess('plain', userTask('a')) });
      const { uuid } = await started(app, published, 'plain', {});
      const token = await app.tokenWith({ exp: Math.floor(Date.now() / 1_000) + 3_600 });
      const stream = request(`${app.url}${instancePath(uuid)}/progress`, {
        agent: false,
        headers: { authorization: `Bearer ${token}` },
      });
      open.push(stream);
      const answered = once(stream, 'response');
      stream.end();
      const [response] = (await answered) as [{ statusCode: number }];

      expect(response.statusCode).toBe(200);
      expect((await app.request('GET', instancePath(uuid), { token })).status).toBe(200);
    });
  });

  describe('connections of one address', () => {
    const dial = async (): Promise<Socket> => {
      const { port } = app.nest.getHttpServer().address() as AddressInfo;
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      open.push(socket);
      await once(socket, 'connect');
      return socket;
    };
    const isClosed = (socket: Socket): Promise<boolean> =>
      new Promise((resolve) => {
        socket.once('close', () => resolve(true));
        socket.once('data', () => resolve(false));
        socket.write(`GET /livez HTTP/1.1\r\nHost: a\r\n\r\n`);
      });

    it('are limited to httpLimits.addressConnections, and a closed one makes room', async () => {
      app = await TestApp.start({ 'httpLimits.addressConnections': String(AT_ONCE) });
      const first = [await dial(), await dial(), await dial()];
      for (const socket of first) {
        expect(await isClosed(socket)).toBe(false);
      }
      expect(await isClosed(await dial())).toBe(true);
      expect(await limitMetrics(app, 'address-connections')).toEqual({
        maximum: AT_ONCE,
        refusals: 1,
        all: AT_ONCE,
        largest: AT_ONCE,
      });
      first[0]?.destroy();
      await expect.poll(async () => isClosed(await dial()), { timeout: 20_000 }).toBe(false);
    });

    it('are limited to httpLimits.connections across all addresses', async () => {
      app = await TestApp.start({ 'httpLimits.connections': String(AT_ONCE) });
      for (const socket of [await dial(), await dial(), await dial()]) {
        expect(await isClosed(socket)).toBe(false);
      }
      expect(await isClosed(await dial())).toBe(true);
      expect(await limitMetrics(app, 'connections')).toEqual({
        maximum: AT_ONCE,
        refusals: 1,
        all: AT_ONCE,
        largest: undefined,
      });
    });

    it('are not limited behind a proxy, because all of them come from its address', async () => {
      app = await TestApp.start({ 'httpLimits.addressConnections': '1', TRUST_PROXY: '1' });
      for (const socket of [await dial(), await dial(), await dial()]) {
        expect(await isClosed(socket)).toBe(false);
      }
    });
  });
});
