import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { tryStart } from '../../support/databases/local-server.js';
import { redisCommand, startRedis, type ProbedServer } from '../../support/discovery/servers.js';
import { taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { Follower } from '../../support/runtime/follower.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { eventually, executed, started } from '../../support/runtime/runtime-client.js';

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
      JOBS_CONCURRENCY: '0',
      REDIS_URL: `redis://default:admin@127.0.0.1:${redis.port}`,
      // Polling the database would be too late.
      'processLimits.progressPollMs': '60000',
    };
    one = await TestApp.start(settings);
    other = await TestApp.start({ ...settings, OIDC_ISSUER: one.issuer.url });
    published = await publish(one, { bpmn: [taskProcess('plain', userTask('a'), userTask('b'))] });
    token = await one.tokenWith({ sub: 'reader', scope: 'process:read' });
    await eventually(
      () => redisCommand(redis.port, 'pubsub', 'numsub', 'svc:signals'),
      (text) => text.endsWith('2'),
    );
  });
  afterAll(async () => {
    await Promise.all([one, other].map((app) => app.close()));
    await redis.server.stop();
  });

  it('immediately sends what another replica did', async () => {
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
});
