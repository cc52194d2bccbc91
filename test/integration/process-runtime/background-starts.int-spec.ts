import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import { ProcessInstanceEntity } from '../../../src/runtime/storage/process-instance.entity.js';
import { ProcessMessageEntity } from '../../../src/runtime/storage/process-message.entity.js';
import { ProcessRepeatEntity } from '../../../src/idempotency/storage/process-repeat.entity.js';
import { CleanupHandler } from '../../../src/runtime/background/cleanup.handler.js';
import { StepResources } from '../../../src/runtime/steps/step-resources.js';
import { TestApp } from '../../support/app.js';
import { uniqueName } from '../../support/factories.js';
import {
  flows,
  node,
  processFile,
  serviceTask,
  taskProcess,
  timerEvent,
  userTask,
} from '../../support/runtime/process-files.js';
import { appPath, publish } from '../../support/runtime/publish.js';
import { eventually, instancePath, start, started } from '../../support/runtime/runtime-client.js';

const cycle = (text: string): string => timerEvent('timeCycle', text);
const date = (text: string): string => timerEvent('timeDate', text);

/** Returns when the build that set a timer was activated. */
const anchorOf = ({ text }: Record<string, unknown>): number =>
  (JSON.parse(String(text)) as { anchor: number }).anchor;

const startedBy = (name: string, event: string): string =>
  processFile(
    name,
    `${node('startEvent', 'start', event)}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
    { outside: '<bpmn:message id="M_order" name="order"/>' },
  );
const failing = (name: string, event: string): string =>
  processFile(
    name,
    `${node('startEvent', 'start', event)}${node('exclusiveGateway', 'g')}${node('endEvent', 'x')}${node('endEvent', 'y')}
     ${flows('start>g g>x[amount > 1] g>y[amount <= 1]')}`,
  );
const sender = (name: string): string =>
  processFile(
    name,
    `${node('startEvent', 'start')}${serviceTask('s', [
      {
        name: 'send',
        kind: 'sendMessage',
        message: 'order',
        inner: '<svc:payload>{"of":"${n}"}</svc:payload>',
      },
    ])}${node('endEvent', 'end')}${flows('start>s s>end')}`,
  );

describe('processes that start automatically', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await TestApp.start({
      'jobLimits.pollMs': '20',
      'processLimits.cleanupSeconds': '1',
      'processLimits.messageTtlSeconds': '5',
      'processLimits.cleanupRows': '2',
    });
  });
  afterAll(() => app.close());

  const instances = (appId: string, processName: string): Promise<ProcessInstanceEntity[]> =>
    app.dataSource
      .getRepository(ProcessInstanceEntity)
      .find({ where: { appId, processName }, order: { id: 'ASC' } });
  const timersOf = async (definitionId: number): Promise<RuntimeJobEntity[]> => {
    const jobs = await app.dataSource.getRepository(RuntimeJobEntity).findBy({ kind: 'TIMER_START' });
    return jobs.filter(({ payload }) => String(payload['text']).includes(`"definitionId":${definitionId},`));
  };

  it('start by timer while their build is active, no more often than defined', async () => {
    const appId = uniqueName('clock');
    const activation = Date.now();
    const first = await publish(app, { appId, bpmn: startedBy('often', cycle('R3/PT1S')), activate: true });
    const [row] = await eventually(
      () => instances(appId, 'often'),
      (found) => found.length > 0,
    );
    await eventually(
      () => timersOf(row?.definitionId ?? 0),
      (jobs) => jobs.length === 0,
    );

    const rows = await instances(appId, 'often');
    // Starts that a busy machine has missed are not made up for.
    expect(rows.length).toBeLessThanOrEqual(3);
    expect(rows.map(({ buildId, startedBy: by, state }) => [buildId, by, state])).toEqual(
      rows.map(() => [first.buildId, null, 'STARTED']),
    );
    // A start may be late, but none comes before its own second.
    const times = rows.map(({ startedAt }) => startedAt.getTime()).toSorted((one, other) => one - other);
    expect(times.every((time, index) => time >= activation + index * 1_000)).toBe(true);
  });

  it('no longer start when another build is active', async () => {
    const appId = uniqueName('clock');
    await publish(app, { appId, bpmn: startedBy('endless', cycle('R/PT1S')), activate: true });
    const [row] = await eventually(
      () => instances(appId, 'endless'),
      (found) => found.length >= 3,
    );
    await publish(app, { appId, bpmn: taskProcess('endless', userTask('a')), activate: true });
    await eventually(
      () => timersOf(row?.definitionId ?? 0),
      (jobs) => jobs.length === 0,
    );
  });

  it('restart their timers, once, when their build becomes active again', async () => {
    const appId = uniqueName('clock');
    const files = [startedBy('hourly', cycle('R/PT1H')), startedBy('often', cycle('R/PT2S'))];
    const { buildId } = await publish(app, { appId, bpmn: files, activate: true });
    const [often] = await eventually(
      () => instances(appId, 'often'),
      (found) => found.length > 0,
    );
    await publish(app, { appId, bpmn: taskProcess('other', userTask('a')), activate: true });
    const again = Date.now();
    await app.request('PUT', `${appPath(appId)}/active-build`, { body: { buildId } });

    const dueTimes = (await app.dataSource.getRepository(RuntimeJobEntity).findBy({ kind: 'TIMER_START' }))
      .filter(({ payload }) => anchorOf(payload) >= again)
      .map(({ dueAt, payload }) => dueAt.getTime() - anchorOf(payload));
    expect(dueTimes).toEqual(expect.arrayContaining([2_000, 3_600_000]));
    const before = (await instances(appId, 'often')).length;
    await eventually(
      () => instances(appId, 'often'),
      (found) => found.length >= before + 2,
    );
    expect(await timersOf(often?.definitionId ?? 0)).toHaveLength(1);
  });

  it('keep starting by timer when an instance stops immediately', async () => {
    const appId = uniqueName('clock');
    await publish(app, { appId, bpmn: failing('stops', cycle('R2/PT1S')), activate: true });
    const rows = await eventually(
      () => instances(appId, 'stops'),
      (found) => found.length === 2,
    );

    expect(rows).toMatchObject([
      { state: 'CREATED', openIncidents: 1 },
      { state: 'CREATED', openIncidents: 1 },
    ]);
  });

  it('start once at a date, but not at a date in the past', async () => {
    const appId = uniqueName('clock');
    const publishAt = (soon: Date): Promise<unknown> =>
      publish(app, {
        appId,
        bpmn: [startedBy('soon', date(soon.toISOString())), startedBy('over', date('2020-01-01T00:00:00Z'))],
        activate: true,
      });
    // The date must be in the future when everything is stored, and how long that takes depends on the machine.
    const began = Date.now();
    await publishAt(new Date(0));
    const took = Date.now() - began;
    await publishAt(new Date(Date.now() + 1_000 + 5 * took));

    await eventually(
      () => instances(appId, 'soon'),
      (found) => found.length === 1,
    );
    expect(await instances(appId, 'over')).toEqual([]);
  });

  it('start by a message to the active build, once per message', async () => {
    const appId = uniqueName('message');
    const published = await publish(app, {
      appId,
      bpmn: [
        startedBy('ordered', '<bpmn:messageEventDefinition messageRef="M_order" svc:correlation=""/>'),
        sender('send'),
      ],
      activate: true,
    });
    for (const n of [1, 2, 3]) {
      await started(app, published, 'send', { n });
    }
    const rows = await eventually(
      () => instances(appId, 'ordered'),
      (found) => found.length === 3,
    );

    const data = rows.map(({ content }) => content.data);
    expect(data).toEqual(expect.arrayContaining([{ of: 1 }, { of: 2 }, { of: 3 }]));
    expect(await app.dataSource.getRepository(ProcessMessageEntity).countBy({ appId })).toBe(0);
  });

  it('leave a message to other instances when its receiver is terminated concurrently', async () => {
    const appId = uniqueName('message');
    const receiver = processFile(
      'receive',
      `${node('startEvent', 'start')}${node('intermediateCatchEvent', 'm', '<bpmn:messageEventDefinition messageRef="M_order" svc:correlation=""/>')}
       ${node('exclusiveGateway', 'g')}${node('endEvent', 'x')}${node('endEvent', 'y')}
       ${flows('start>m m>g g>x[amount > 1] g>y[amount <= 1]')}`,
      { outside: '<bpmn:message id="M_order" name="order"/>' },
    );
    const published = await publish(app, { appId, bpmn: [receiver, sender('send')] });
    const stopped = await started(app, published, 'receive', {});
    const resources = app.nest.get(StepResources);
    const nextId = resources.nextId.bind(resources);
    const spy = vi.spyOn(resources, 'nextId').mockImplementation(async (name) => {
      if (name === 'job') {
        spy.mockRestore();
        await app.request('POST', `${instancePath(stopped.uuid)}/terminate`);
      }
      return nextId(name);
    });
    await started(app, published, 'send', { n: 7 });
    await eventually(
      () => instances(appId, 'receive'),
      ([row]) => row?.state === 'TERMINATED',
    );

    const other = await started(app, published, 'receive', { amount: 2 });
    const [, row] = await eventually(
      () => instances(appId, 'receive'),
      (rows) => rows[1]?.state === 'FINISHED',
    );
    expect([row?.uuid, row?.content]).toMatchObject([other.uuid, { data: { amount: 2, of: 7 } }]);
  });

  it('cannot be started by a caller', async () => {
    const published = await publish(app, { bpmn: startedBy('clocked', cycle('R1/PT1H')) });
    const { status, body } = await start(app, published, 'clocked', {});

    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: 'Start node for process definition not found.',
    });
  });

  describe('data that is kept for a limited time', () => {
    it('unreceived messages are removed when they have expired', async () => {
      const appId = uniqueName('message');
      const published = await publish(app, { appId, bpmn: sender('send') });
      for (const n of [1, 2, 3, 4, 5]) {
        await started(app, published, 'send', { n });
      }
      const messages = app.dataSource.getRepository(ProcessMessageEntity);
      await eventually(
        () => messages.countBy({ appId }),
        (count) => count > 0,
      );
      await eventually(
        () => messages.countBy({ appId }),
        (count) => count === 0,
      );
    });

    it('stored answers are removed when they are old, and their key can be used again', async () => {
      const repeats = app.dataSource.getRepository(ProcessRepeatEntity);
      const published = await publish(app, { bpmn: taskProcess('plain', userTask('a')) });
      const first = await start(app, published, 'plain', {}, { key: 'old' });
      await start(app, published, 'plain', {}, { key: 'young' });
      const [old] = await repeats.find();
      const all = await repeats.find();
      const row = all.find(({ response }) => response === first.text) ?? old;
      await repeats.update(
        { keyHash: row?.keyHash ?? '', shard: row?.shard ?? 0 },
        { createdAt: new Date(Date.now() - 8 * 86_400_000) },
      );

      await eventually(
        () => repeats.countBy({ keyHash: row?.keyHash ?? '' }),
        (count) => count === 0,
      );
      expect(await repeats.count()).toBe(all.length - 1);
      expect((await start(app, published, 'plain', {}, { key: 'old' })).body.uuid).not.toBe(first.body.uuid);
    });
  });

  it('are cleaned up by one job, regardless of the number of replicas', async () => {
    const count = () => app.dataSource.getRepository(RuntimeJobEntity).countBy({ kind: 'PROCESS_CLEANUP' });
    await app.nest.get(CleanupHandler).onApplicationBootstrap();
    await app.nest.get(CleanupHandler).onApplicationBootstrap();

    expect(await count()).toBe(1);
  });
});
