import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Clock } from '../../../../src/platform/clock.js';
import { StopGate } from '../../../../src/platform/http/stop-gate.js';
import { TestApp } from '../../../../test/support/app.js';
import { IN_TIME_MS } from '../../../../test/support/patience.js';
import { Follower } from '../../../../test/support/runtime/follower.js';
import { taskProcess, userTask } from '../../../../test/support/runtime/process-files.js';
import { publish, type Published } from '../../../../test/support/runtime/publish.js';
import { eventually, instancePath, started } from '../../../../test/support/runtime/runtime-client.js';

const MEGABYTE = 1_048_576;
/** Larger than the buffers at both ends of a loopback connection. */
const LARGE = 'x'.repeat(12 * MEGABYTE);
const STALL_SECONDS = 2;
/** Longer than token verifications are cached. */
const LATER_MS = 61_000;

describe('a connection that follows an instance', () => {
  let app: TestApp;
  let published: Published;
  let token: string;

  beforeAll(async () => {
    app = await TestApp.start({
      JOBS_CONCURRENCY: '0',
      'httpLimits.bodyBytes': String(16 * MEGABYTE),
      'dataLimits.bytes': String(16 * MEGABYTE),
      'processLimits.followers': '3',
      'processLimits.followersPerCaller': '2',
      'processLimits.heartbeatSeconds': '1',
      'processLimits.stallSeconds': String(STALL_SECONDS),
      'tokenLimits.jwksMaxAgeSeconds': '1',
    });
    published = await publish(app, { bpmn: [taskProcess('plain', userTask('a'))] });
    token = await app.tokenWith({ sub: 'reader', scope: 'process:read' });
  });
  const sockets: Socket[] = [];
  afterEach(() => {
    vi.restoreAllMocks();
    sockets.splice(0).forEach((socket) => socket.destroy());
  });
  afterAll(() => app.close());

  const request = (id: string): Socket => {
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    sockets.push(socket);
    socket.write(
      `GET ${instancePath(id)}/progress HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    return socket;
  };
  /** Opens a client that has read the start of the response and is then paused. */
  const stalled = async (id: string): Promise<Socket> => {
    const socket = request(id);
    const [beginning] = (await once(socket, 'data')) as [Buffer];
    if (beginning.toString().startsWith('HTTP/1.1 200 ')) {
      return socket.pause();
    }
    // The service may not have noticed yet that a client of the previous test has left.
    socket.destroy();
    await delay(20);
    return stalled(id);
  };
  const statusOfOne = async (id: string, bearer = token): Promise<number> => {
    const follower = await Follower.open(app, id, bearer);
    follower.close();
    return follower.status;
  };
  const isFree = (id: string) =>
    eventually(
      () => statusOfOne(id),
      (status) => status === 200,
    );

  it('ends when its caller may no longer read the instance', async () => {
    const { uuid: id } = await started(app, published, 'plain');
    const starter = await app.tokenWith({ scope: 'openid' });
    const [own, all] = await Promise.all([Follower.open(app, id, starter), Follower.open(app, id, token)]);
    expect([own.status, all.status]).toEqual([200, 200]);

    await app.dataSource.query('UPDATE process_instances SET starter = ? WHERE uuid = ?', ['other', id]);
    await own.ended();
    const seen = all.comments;
    await eventually(
      () => Promise.resolve(all.comments),
      (comments) => comments > seen,
    );
    all.close();
  });

  it('ends when the instance is deleted', async () => {
    const { uuid: id } = await started(app, published, 'plain');
    const follower = await Follower.open(app, id, token);
    expect(follower.status).toBe(200);

    await app.dataSource.query('DELETE FROM process_instances WHERE uuid = ?', [id]);
    await follower.ended();
  });

  it('ends when the issuer withdraws the key of the token', async () => {
    const { uuid: id } = await started(app, published, 'plain');
    const now = Date.now.bind(Date);
    const claims = { sub: 'withdrawn', scope: 'process:read', exp: Math.floor(now() / 1_000) + 900 };
    const { keys } = app.issuer;
    const follower = await Follower.open(app, id, await app.tokenWith(claims));
    expect(follower.status).toBe(200);
    const strangers = await Promise.all(
      Array.from({ length: 200 }, (_none, index) => app.tokenWith({ ...claims, sub: `stranger-${index}` })),
    );

    await app.issuer.rotate({ retire: true });
    await eventually(
      () => statusOfOne(id, strangers.pop()),
      (status) => status === 401,
    );
    vi.spyOn(Clock.prototype, 'now').mockImplementation(() => new Date(now() + LATER_MS));
    await follower.ended();

    vi.restoreAllMocks();
    app.issuer.keys = keys;
    await isFree(id);
  });

  it('is rejected beyond the limit of the replica, for any caller', async () => {
    const { uuid: id } = await started(app, published, 'plain');
    const other = await app.tokenWith({ sub: 'other', scope: 'process:read' });
    const third = await app.tokenWith({ sub: 'third', scope: 'process:read' });
    const followers = await Promise.all(
      [token, token, other].map((bearer) => Follower.open(app, id, bearer)),
    );

    expect(followers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await statusOfOne(id, third)).toBe(429);
    followers.forEach((follower) => follower.close());
    await eventually(
      () => statusOfOne(id, third),
      (status) => status === 200,
    );
  });

  // If the kernel buffers the entire response nothing stalls, so the test is retried with a short timeout.
  it(
    'is closed when its client reads nothing, and frees its slot',
    { retry: 6, timeout: 60_000 },
    async () => {
      const { uuid: small } = await started(app, published, 'plain');
      const { uuid: id } = await started(app, published, 'plain', { text: LARGE });
      const followers = await Promise.all([stalled(id), stalled(id)]);
      // A reset closes a socket immediately, even if it is not being read.
      const closed = followers.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      expect(await statusOfOne(small)).toBe(429);

      await eventually(
        () => Promise.all([statusOfOne(small), statusOfOne(small)]),
        (statuses) => statuses.every((status) => status === 200),
      );
      followers.forEach((socket) => socket.resume());
      await Promise.all(closed);
      expect(followers.map(({ bytesRead }) => bytesRead < LARGE.length)).toEqual([true, true]);
    },
  );

  it('frees its slot immediately when a stalled client hangs up', async () => {
    const { uuid: small } = await started(app, published, 'plain');
    const { uuid: id } = await started(app, published, 'plain', { text: LARGE });
    const followers = await Promise.all([stalled(id), stalled(id)]);
    expect(await statusOfOne(small)).toBe(429);
    const before = Date.now();

    followers.forEach((socket) => socket.destroy());
    await isFree(small);
    expect(Date.now() - before).toBeLessThan(STALL_SECONDS * 1_000);
  });

  it('is not closed when its client is slow', async () => {
    const { uuid: id } = await started(app, published, 'plain', { text: LARGE });
    const socket = await stalled(id);
    const start = Date.now();
    while (socket.bytesRead <= LARGE.length) {
      socket.resume();
      await once(socket, 'data');
      socket.pause();
      await delay(20);
    }
    socket.destroy();

    expect(Date.now() - start).toBeGreaterThan(STALL_SECONDS * 1_000);
  });
});

describe('a shutdown of the service', () => {
  // If the kernel buffers the entire response nothing stalls, so the test is retried.
  it('does not wait long for stalled followers', { retry: 3 }, async () => {
    const app = await TestApp.start({
      JOBS_CONCURRENCY: '0',
      'httpLimits.bodyBytes': String(16 * MEGABYTE),
      'dataLimits.bytes': String(16 * MEGABYTE),
      'processLimits.stallSeconds': '3600',
    });
    const published = await publish(app, { bpmn: [taskProcess('plain', userTask('a'))] });
    const { uuid: id } = await started(app, published, 'plain', { text: LARGE });
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    const head = `Host: ${hostname}\r\nAuthorization: Bearer ${await app.tokenWith({ scope: 'process:read' })}\r\n`;
    socket.write(`GET ${instancePath(id)}/progress HTTP/1.1\r\n${head}\r\n`);
    const [beginning] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    expect(beginning.toString()).toContain('HTTP/1.1 200 ');

    const before = Date.now();
    await app.nest.get(StopGate).close();
    const took = Date.now() - before;
    socket.destroy();
    await app.close();
    expect([took > 500, took < IN_TIME_MS]).toEqual([true, true]);
  });
});
