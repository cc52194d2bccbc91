import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp, limitMetrics } from '../../support/app.js';
import { taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { Follower } from '../../support/runtime/follower.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { eventually, executed, instancePath, start, started } from '../../support/runtime/runtime-client.js';
import { eventRows } from '../../support/runtime/runtime-rows.js';

describe('GET /rtm/api/runtime/process-instance/{uuid}/progress', () => {
  let app: TestApp;
  let published: Published;
  let token: string;

  beforeAll(async () => {
    app = await TestApp.start({
      JOBS_CONCURRENCY: '0',
      'processLimits.followersPerCaller': '3',
      'processLimits.heartbeatSeconds': '1',
      'processLimits.progressPollMs': '50',
      'tokenLimits.clockToleranceSeconds': '0',
    });
    published = await publish(app, {
      bpmn: [taskProcess('plain', userTask('a'), userTask('b')), taskProcess('short')],
    });
    token = await app.tokenWith({ sub: 'reader', scope: 'process:read' });
  });
  afterAll(() => app.close());

  it('sends the current state, then every event, and ends with the instance', async () => {
    const instance = await started(app, published, 'plain', { amount: 1 });
    const follower = await Follower.open(app, instance.uuid, token);
    await eventually(
      () => Promise.resolve(follower.events.length),
      (count) => count === 1,
    );
    expect(follower).toMatchObject({ status: 200, contentType: 'text/event-stream; charset=utf-8' });
    expect(follower.events[0]).toMatchObject({
      event: 'instance',
      data: { uuid: instance.uuid, state: 'STARTED', data: { amount: 1 } },
    });

    await executed(app, instance.uuid, instance.token.uuid, ui('a'), {});
    await executed(app, instance.uuid, instance.token.uuid, ui('b'), {});
    await follower.ended();

    const rows = await eventRows(app, instance.instanceMetadata.processInstanceId);
    const [first, ...others] = follower.events;
    const last = others.pop();
    expect(others.map(({ id }) => id)).toEqual(rows.slice(first?.id).map(({ seq }) => seq));
    expect(new Set(others.map(({ event }) => event))).toEqual(new Set(['history']));
    expect(last).toEqual({
      event: 'end',
      id: rows.length,
      data: { uuid: instance.uuid, state: 'FINISHED' },
    });
  });

  it('continues after the event in Last-Event-ID', async () => {
    const { body } = await start(app, published, 'short', {});
    const rows = await eventRows(app, body.instanceMetadata.processInstanceId);
    const follower = await Follower.open(app, body.uuid, token, '2');
    await follower.ended();

    expect(follower.events.map(({ event, id }) => ({ event, id }))).toEqual([
      ...rows.slice(2).map(({ seq }) => ({ event: 'history', id: seq })),
      { event: 'end', id: rows.length },
    ]);
  });

  it('answers 204 if Last-Event-ID is the last event of an instance that has ended', async () => {
    const { body } = await start(app, published, 'short', {});
    const { length } = await eventRows(app, body.instanceMetadata.processInstanceId);
    for (const known of [length, length + 1]) {
      const path = `${instancePath(body.uuid)}/progress`;
      const headers = { 'last-event-id': String(known) };
      const { status, text } = await app.request('GET', path, { token, headers });
      expect([status, text]).toEqual([204, '']);
    }
    const first = await Follower.open(app, body.uuid, token);
    await first.ended();
    expect(first.events.map(({ event }) => event)).toEqual(['instance', 'end']);
    const waiting = await started(app, published, 'plain', {});
    const follower = await Follower.open(app, waiting.uuid, token, '999');
    expect(follower.status).toBe(200);
    follower.close();
  });

  it('answers HEAD immediately, with the status and type of GET', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    for (let round = 0; round < 4; round += 1) {
      const { status, headers } = await fetch(`${app.url}${instancePath(id)}/progress`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(10_000),
      });
      expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    }
  });

  it('sends what another replica did', async () => {
    const instance = await started(app, published, 'plain', {});
    const other = await TestApp.start({ JOBS_CONCURRENCY: '0' });
    const follower = await Follower.open(app, instance.uuid, token);
    try {
      await eventually(
        () => Promise.resolve(follower.events.length),
        (count) => count === 1,
      );
      const id = instance.instanceMetadata.processInstanceId;
      await other.dataSource.query(
        `INSERT INTO process_events (instance_id, seq, shard, at, events)
         SELECT id, seq + 1, shard, started_at, ? FROM process_instances WHERE id = ?`,
        [JSON.stringify({ text: '["RETRY",null,null,null]' }), id],
      );
      await other.dataSource.query('UPDATE process_instances SET rev = rev + 1, seq = seq + 1 WHERE id = ?', [
        id,
      ]);
      await eventually(
        () => Promise.resolve(follower.events.at(-1)?.data['kind']),
        (kind) => kind === 'RETRY',
      );
    } finally {
      follower.close();
      await other.close();
    }
  });

  it('sends heartbeats, and ends when its caller disconnects', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    for (let round = 0; round < 4; round += 1) {
      const follower = await Follower.open(app, id, token);
      expect(follower.status).toBe(200);
      if (round === 0) {
        await eventually(
          () => Promise.resolve(follower.comments),
          (count) => count >= 2,
        );
      }
      follower.close();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });

  it('refuses connections over the limit', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    const followers = await Promise.all([1, 2, 3].map(() => Follower.open(app, id, token)));
    const refused = await app.request('GET', `${instancePath(id)}/progress`, { token });
    const shown = await limitMetrics(app, 'followers-per-caller');
    followers.forEach((follower) => follower.close());

    expect(refused).toMatchObject({
      status: 429,
      body: {
        message: 'Too many connections follow process instances.',
        details: 'followers-per-caller is 3.',
      },
    });
    expect(shown).toEqual({ maximum: 3, refusals: 1, all: 3, largest: 3 });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('ends when the token of the caller expires', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    const expiring = await app.tokenWith({
      sub: 'short-lived',
      scope: 'process:read',
      exp: Math.floor(Date.now() / 1_000) + 3,
    });
    const follower = await Follower.open(app, id, expiring);
    expect(follower.status).toBe(200);
    await follower.ended();
    expect(follower.events.map(({ event }) => event)).toEqual(['instance']);
  });

  it('answers 401, 403, 404 and 400', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    const john = await app.tokenWith({ sub: 'john', scope: 'openid' });
    const get = (name: string, bearer: string | null) =>
      app.request('GET', `${instancePath(name)}/progress`, { token: bearer });

    expect((await get(id, null)).status).toBe(401);
    expect((await get(id, john)).status).toBe(403);
    expect((await get(uuid(), token)).status).toBe(404);
    expect((await get('no%20uuid', token)).status).toBe(400);
  });

  it('ends when the service stops', async () => {
    const stopping = await TestApp.start({ JOBS_CONCURRENCY: '0' });
    const { uuid: id } = await started(stopping, published, 'plain', {});
    const follower = await Follower.open(stopping, id, await stopping.tokenWith({}));
    expect(follower.status).toBe(200);
    await Promise.all([stopping.close(), follower.ended()]);
  });
});
