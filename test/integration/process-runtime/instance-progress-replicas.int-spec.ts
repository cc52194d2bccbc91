import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { tryStart } from '../../support/discovery/local-server.js';
import { redisCli, startRedis, type ProbedServer } from '../../support/discovery/servers.js';
import { taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { Follower } from '../../support/runtime/follower.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { eventually, executed, instancePath, started } from '../../support/runtime/runtime-client.js';

const MOST = 2;
const { server, missing } = await tryStart(() => startRedis());
if (missing !== undefined) {
  console.log(`tests of live progress of several replicas: skipped, ${missing}`);
}

describe.skipIf(server === undefined)('live progress in several replicas, with Redis', () => {
  const redis = server as ProbedServer;
  let one: TestApp;
  let other: TestApp;
  let published: Published;
  let token: string;

  beforeAll(async () => {
    const settings = {
      JOBS_WORKERS: 'false',
      REDIS_URL: `redis://default:admin@127.0.0.1:${redis.port}`,
      PROCESS_PROGRESS_CONNECTIONS_PER_CALLER: String(MOST),
      // No look at the database tells in time.
      PROCESS_PROGRESS_POLL_MS: '60000',
    };
    one = await TestApp.start(settings);
    other = await TestApp.start({ ...settings, OIDC_ISSUER: one.issuer.url });
    published = await publish(one, { bpmn: [taskProcess('plain', userTask('a'), userTask('b'))] });
    token = await one.tokenWith({ sub: 'reader', scope: 'process:read' });
    await eventually(
      () => redisCli(redis.port, 'pubsub', 'numsub', 'svc:signals'),
      (text) => text.endsWith('2'),
    );
  });
  afterAll(async () => {
    await Promise.all([one, other].map((app) => app.close()));
    await redis.server.stop();
  });

  it('tells at once what another replica did', async () => {
    const instance = await started(one, published, 'plain', {});
    const follower = await Follower.open(other, instance.uuid, token);
    await eventually(
      () => Promise.resolve(follower.events.length),
      (count) => count === 1,
    );
    await executed(one, instance.uuid, instance.token.uuid, ui('a'), {});
    await eventually(
      () => Promise.resolve(follower.events.length),
      (count) => count > 1,
    );
    await executed(one, instance.uuid, instance.token.uuid, ui('b'), {});
    await follower.ended();
    expect(follower.events.at(-1)).toMatchObject({ event: 'end', data: { state: 'FINISHED' } });
  });

  it('counts the connections of one caller in all replicas, and no longer than they are open', async () => {
    const { uuid: id } = await started(one, published, 'plain', {});
    const open = (): Promise<Follower[]> =>
      Promise.all(Array.from({ length: MOST }, () => Follower.open(one, id, token)));
    const follow = () => other.request('GET', `${instancePath(id)}/progress`, { token });
    const followers = await open();
    expect(await follow()).toMatchObject({
      status: 429,
      body: { details: `PROCESS_PROGRESS_CONNECTIONS_PER_CALLER is ${MOST}.` },
    });
    expect(await redisCli(redis.port, 'keys', '*reader*')).toBe('');
    followers.forEach((follower) => follower.leave());
    let last: Follower | undefined;
    await eventually(
      async () => {
        last = await Follower.open(other, id, token);
        return last.status;
      },
      (status) => status === 200,
    );
    last?.leave();
  });
});
