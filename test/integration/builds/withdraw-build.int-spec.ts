import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditAction, AuditOutcome } from '../../../src/audit/model/audit.types.js';
import { WithdrawnBuildHandler } from '../../../src/runtime/background/withdrawn-build.handler.js';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { uniqueName } from '../../support/factories.js';
import { flows, node, processFile, ui, userTask } from '../../support/runtime/process-files.js';
import {
  appPath,
  packageDocument,
  publish,
  type Published,
  mapping,
  workflowOf,
} from '../../support/runtime/publish.js';
import {
  eventually,
  executed,
  instancePath,
  start,
  started,
  startPath,
} from '../../support/runtime/runtime-client.js';
import { eventRows, stateOf } from '../../support/runtime/runtime-rows.js';
import { auditRows, newPlace } from '../systems/rows.js';
import { activate, buildRows, store } from './rows.js';

const RULES = Object.fromEntries(
  ['application-delivery', 'process-administration', 'process-read', 'workflow-test'].map((name) => [
    name,
    [
      { claim: 'sub', has: 'user-1' },
      { claim: 'roles', has: name },
      { claim: 'roles', hasAt: name },
    ],
  ]),
);
const WITHDRAWN = 'The build was withdrawn: it can no longer be started or activated.';
const waits = processFile(
  'waits',
  `${node('startEvent', 'start')}${userTask('a')}${node('callActivity', 'call', '', 'calledElement="called"')}
   ${node('endEvent', 'end')}${flows('start>a a>call call>end')}`,
);
const called = processFile(
  'called',
  `${node('startEvent', 'start')}${userTask('b')}${node('endEvent', 'end')}${flows('start>b b>end')}`,
);
/** Stops with an incident if `amount` is not a number. */
const stops = processFile(
  'stops',
  `${node('startEvent', 'start')}${node('exclusiveGateway', 'g')}${userTask('a')}${node('endEvent', 'end')}
   ${flows('start>g g>a[amount > 1] g>end[amount <= 1] a>end')}`,
);

let app: TestApp;
beforeAll(async () => {
  app = await TestApp.start({ PERMISSION_RULES: JSON.stringify(RULES), 'jobLimits.pollMs': '20' });
});
afterAll(() => app.close());

const bearer = (...roles: string[]): Promise<string> =>
  app.tokenWith({ scope: 'openid', sub: uniqueName('caller'), roles });
const published = (neverActive = false): Promise<Published> =>
  publish(app, {
    neverActive,
    bpmn: [waits, called],
    package: { workflows: [workflowOf('double', [mapping('a', 1)])] },
  });
const withdraw = (
  { appId, buildId }: Pick<Published, 'appId' | 'buildId'>,
  body: unknown = { running: 'CONTINUE' },
  token?: string | null,
): Promise<TestResponse> =>
  app.request('POST', `${appPath(appId)}/build/${buildId}/withdraw`, {
    body,
    ...(token === undefined ? {} : { token }),
  });
const withdrawals = async (build: Published) =>
  (await auditRows(app, build)).filter(({ action }) => action === AuditAction.BuildWithdraw);

describe('POST /resource/app/{appId}/build/{buildId}/withdraw', () => {
  it('permanently prevents starts, test runs, activations and use as a library', async () => {
    const build = await published();
    await activate(app, build.appId, build.buildId);
    const first = await start(app, build, 'waits', {}, { key: 'once' });
    expect(await withdraw(build)).toMatchObject({
      status: 200,
      body: { buildId: build.buildId, buildStatus: 'WITHDRAWN', running: 'CONTINUE', wasActive: true },
    });

    const refusal = { status: 409, body: { message: WITHDRAWN } };
    expect(await start(app, build, 'waits')).toMatchObject(refusal);
    expect((await start(app, build, 'waits', {}, { key: 'once' })).body.uuid).toBe(first.body.uuid);
    const runtime = `/rtm/api/runtime/app/${build.appId}/build/${build.buildId}`;
    const testRun = `${runtime}/workflow/double/test-run`;
    expect(await app.request('POST', testRun, { body: {} })).toMatchObject(refusal);
    expect(await activate(app, build.appId, build.buildId)).toMatchObject(refusal);
    const place = newPlace();
    const libraries = [{ appId: build.appId, buildId: build.buildId }];
    expect(await store(app, place, packageDocument(place.appId, { bpmn: called, libraries }))).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('it was withdrawn. Name another build.') as string },
    });

    const shown = await app.request('GET', `${appPath(build.appId)}/build/${build.buildId}`);
    expect(shown.body).toMatchObject({ buildStatus: 'WITHDRAWN' });
    const list = await app.request<{ builds: unknown[] }>('GET', `${appPath(build.appId)}/builds`);
    expect(list.body.builds).toMatchObject([{ buildStatus: 'WITHDRAWN' }]);
    const processes = await app.request<{ processes: unknown[] }>('GET', `${runtime}/processes`);
    expect(processes.body.processes).toMatchObject([
      { mayStart: false, refusal: { status: 409, message: WITHDRAWN } },
      { mayStart: false },
    ]);
    expect((await app.request('GET', `${appPath(build.appId)}/active-build`)).status).toBe(404);

    expect((await withdraw(build)).body).toMatchObject({ wasActive: false });
    expect(await withdrawals(build)).toMatchObject([
      {
        outcome: AuditOutcome.Ok,
        details: { buildId: build.buildId, running: 'CONTINUE', wasActive: true },
      },
    ]);
  });

  it('prevents starts on every replica before it answers', async () => {
    const build = await published();
    const replica = await TestApp.start({ JOBS_CONCURRENCY: '0' });
    try {
      expect((await start(replica, build, 'waits')).status).toBe(200);
      await withdraw(build);
      expect((await start(replica, build, 'waits')).status).toBe(409);
    } finally {
      await replica.close();
    }
  });

  it('prevents retries of instances that stopped at their start', async () => {
    const build = await publish(app, { bpmn: stops });
    const { body } = await start(app, build, 'stops', { amount: 'many' });
    const uuid = body.incident?.processInstanceUuid ?? '';
    await withdraw(build);
    const retried = await app.request('POST', `${instancePath(uuid)}/retry`);
    expect(retried).toMatchObject({ status: 409, body: { message: WITHDRAWN } });
    expect(await stateOf(app, uuid)).toBe('CREATED');
    expect((await app.request('POST', `${instancePath(uuid)}/terminate`)).status).toBe(200);
  });

  it('lets running instances continue and call processes of their own build', async () => {
    const build = await published();
    const { uuid, token } = await started(app, build, 'waits');
    await withdraw(build);
    await executed(app, uuid, token.uuid, ui('a'), {});
    const { body } = await eventually(
      () => app.request<{ children: { uuid: string }[] }>('GET', instancePath(uuid)),
      (answer) => answer.body.children.length === 1,
    );
    expect(await stateOf(app, body.children[0]?.uuid ?? '')).toBe('STARTED');
  });

  it.each([
    ['HOLD', 'ONHOLD'],
    ['TERMINATE', 'TERMINATED'],
  ])('can %s running instances, whose history names the caller', async (running, state) => {
    const build = await published();
    const other = await publish(app, { appId: build.appId, bpmn: called });
    const untouched = await started(app, other, 'called');
    const uuids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      uuids.push((await started(app, build, 'waits')).uuid);
    }
    const id = (await started(app, build, 'waits')).instanceMetadata.processInstanceId;
    expect((await withdraw(build, { running })).status).toBe(200);
    for (const uuid of uuids) {
      await eventually(
        () => stateOf(app, uuid),
        (now) => now === state,
      );
    }
    expect(await stateOf(app, untouched.uuid)).toBe('STARTED');
    const events = await eventually(
      () => eventRows(app, id),
      (rows) => rows.at(-1)?.data?.['to'] === state,
    );
    expect(events.at(-1)).toMatchObject({ kind: 'INSTANCE_STATE', actor: 'jane.doe' });
    expect(await withdrawals(build)).toHaveLength(1);
  });

  it('handles instances that were starting a minute later, and has no further effect when repeated', async () => {
    const build = await published();
    const { uuid } = await started(app, build, 'waits');
    await withdraw(build, { running: 'HOLD' });
    const jobs = app.dataSource.getRepository(RuntimeJobEntity);
    const left = await eventually(
      async () =>
        (await jobs.findBy({ kind: 'WITHDRAWN_BUILD' })).filter(({ payload }) =>
          JSON.stringify(payload).includes(build.buildId),
        ),
      ([job]) => job !== undefined && job.availableAt.getTime() > Date.now() + 30_000,
    );
    expect(left).toHaveLength(1);
    const before = await eventually(
      () => stateOf(app, uuid),
      (state) => state === 'ONHOLD',
    );
    await app.request('POST', `${instancePath(uuid)}/release`);
    // The released instance simulates one whose start completed after the withdrawal.
    const [job] = left;
    const handler = app.nest.get(WithdrawnBuildHandler);
    await handler.run(job as never);
    expect(await stateOf(app, uuid)).toBe(before);
    await expect(handler.run(job as never)).rejects.toThrow();
    expect(await stateOf(app, uuid)).toBe(before);
  });

  it('answers 401, 403, 404 and 400, and changes nothing', async () => {
    const build = await published();
    const { appId } = build;
    expect((await withdraw(build, undefined, null)).status).toBe(401);
    expect((await withdraw(build, undefined, await bearer('process-administration'))).status).toBe(403);
    const deliverer = await bearer(`application-delivery@${appId}`, 'process-administration@other');
    for (const running of ['HOLD', 'TERMINATE']) {
      expect(await withdraw(build, { running }, deliverer)).toMatchObject({
        status: 403,
        body: { message: 'Insufficient permissions to administer processes' },
      });
    }
    expect((await withdraw({ appId, buildId: 'unknown' })).status).toBe(404);
    expect((await withdraw({ appId: 'other', buildId: build.buildId })).status).toBe(404);
    expect(await withdraw(build, { running: 'STOP' })).toMatchObject({
      body: { details: 'running: must be one of CONTINUE, HOLD, TERMINATE' },
    });
    for (const body of [{}, { running: 'STOP' }, { running: 'HOLD', more: 1 }, undefined]) {
      expect((await withdraw(build, body ?? [])).status, JSON.stringify(body)).toBe(400);
    }
    expect(await buildRows(app, appId)).toMatchObject([{ status: 'COMMITTED' }]);
    const denied = await eventually(
      () => withdrawals(build),
      (rows) => rows.length === 3,
    );
    expect(denied.map(({ outcome }) => outcome)).toEqual(Array(3).fill(AuditOutcome.Denied));
    expect((await withdraw(build, { running: 'CONTINUE' }, deliverer)).status).toBe(200);
  });

  it('leaves no withdrawn build active if an activation runs concurrently', async () => {
    const build = await published();
    const [activated, withdrawn] = await Promise.all([
      activate(app, build.appId, build.buildId),
      withdraw(build),
    ]);
    expect(withdrawn.status).toBe(200);
    expect([200, 409]).toContain(activated.status);
    expect((await app.request('GET', `${appPath(build.appId)}/active-build`)).status).toBe(404);
  });
});

describe('a build that was never active', () => {
  it('can be started only by callers who may deliver the application, and by others once it was active', async () => {
    const build = await published(true);
    const ordinary = await bearer();
    const deliverer = await bearer(`application-delivery@${build.appId}`);
    const status = async (token: string): Promise<number> =>
      (await start(app, build, 'waits', {}, { token })).status;
    const refused = await start(app, build, 'waits', {}, { token: ordinary });
    expect(refused).toMatchObject({
      status: 403,
      body: {
        message:
          'The build was never active: only users who may deliver the application can start its processes.',
      },
    });
    expect(await status(await bearer('application-delivery@other'))).toBe(403);
    expect(await status(deliverer)).toBe(200);
    const unknown = startPath(build, 'unknown');
    expect((await app.request('POST', unknown, { token: ordinary, body: {} })).status).toBe(404);
    const path = `/rtm/api/runtime/app/${build.appId}/build/${build.buildId}/processes`;
    const listed = await app.request('GET', path, { token: ordinary });
    expect(listed.body['processes']).toMatchObject([{ mayStart: false, refusal: { status: 403 } }, {}]);

    await activate(app, build.appId, build.buildId);
    expect(await status(ordinary)).toBe(200);
    const next = await publish(app, { appId: build.appId, bpmn: called });
    await activate(app, build.appId, next.buildId);
    expect(await status(ordinary)).toBe(200);
  });
});
