import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProcessInstanceEntity } from '../../../src/runtime/storage/process-instance.entity.js';
import { encodeJob, type RuntimeJob } from '../../../src/runtime/steps/runtime-job.js';
import { Database } from '../../../src/store/database.js';
import { IdBlocks } from '../../../src/store/ids/id-blocks.js';
import { JobQueueService } from '../../../src/jobs/queue/job-queue.service.js';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, serviceTask, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published, calling, mapping, workflowOf } from '../../support/runtime/publish.js';
import { eventually, executed, instancePath, started } from '../../support/runtime/runtime-client.js';
import { eventRows, instanceRow, tokenRows } from '../../support/runtime/runtime-rows.js';

const ERRORS = [
  ['e', 'E'],
  ['terminated', 'CHILD_TERMINATED'],
  ['missing', 'CHILD_NOT_STARTED'],
  ['input', 'NODE_INPUT_INVALID'],
  ['rejected', 'REJECTED'],
  ['unsent', 'REST_CALL_FAILED'],
]
  .map(([id, code]) => `<bpmn:error id="${id}" errorCode="${code}"/>`)
  .join('');

const catching = (host: string, error: string | null): string =>
  node(
    'boundaryEvent',
    'caught',
    error === null ? '<bpmn:errorEventDefinition/>' : `<bpmn:errorEventDefinition errorRef="${error}"/>`,
    `attachedToRef="${host}"`,
  );

/** Returns a process that calls another one next to a user task. It catches `error`: null for all, undefined for none. */
const caller = (name: string, called: string, error?: string | null): string =>
  processFile(
    name,
    `${node('startEvent', 'start')}${node('parallelGateway', 'fork')}${userTask('other')}
     ${node('callActivity', 'call', '', `calledElement="${called}"`)}${node('endEvent', 'end')}
     ${error === undefined ? '' : `${catching('call', error)}${userTask('fix')}`}
     ${flows(`start>fork fork>call fork>other call>end other>end${error === undefined ? '' : ' caught>fix fix>end'}`)}`,
    { outside: ERRORS },
  );

const bottom = processFile(
  'bottom',
  `${node('startEvent', 'start')}${userTask('decide')}
   ${node('endEvent', 'broken', '<bpmn:errorEventDefinition errorRef="e"/>')}${flows('start>decide decide>broken')}`,
  { outside: ERRORS },
);
/** Stops in its first step. */
const unable = processFile(
  'unable',
  `${node('startEvent', 'start')}${node('exclusiveGateway', 'which')}${userTask('a')}${userTask('b')}${node('endEvent', 'end')}
   ${flows('start>which which>a[gone.x] which>b[gone.y] a>end b>end')}`,
);
const rating = (name: string, error: string | null, workflow = 'broken'): string =>
  processFile(
    name,
    `${node('startEvent', 'start')}${serviceTask('s', [{ name: 'rate', kind: 'startWorkflow', workflow }])}
     ${catching('s', error)}${userTask('a')}${userTask('fix')}${node('endEvent', 'end')}
     ${flows('start>s s>a a>end caught>fix fix>end')}`,
    { outside: ERRORS },
  );

interface InstanceBody extends Record<string, unknown> {
  state: string;
  incidents: { message: string; type: string; source: string; childProcessInstanceUuid: string | null }[];
}

describe('errors of called processes and workflows', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.shared({ 'jobLimits.pollMs': '20' });
    published = await publish(app, {
      bpmn: [
        caller('top', 'two'),
        caller('catchingTop', 'two', 'e'),
        caller('two', 'three'),
        caller('three', 'bottom'),
        caller('catchAll', 'bottom', null),
        caller('catchTerminated', 'bottom', 'terminated'),
        caller('catchAllUnable', 'unable', null),
        caller('catchUnable', 'unable', 'missing'),
        bottom,
        unable,
        rating('rateAll', null),
        rating('rateNamed', 'input'),
        rating('callAll', null, 'outside'),
        rating('callNamed', 'unsent', 'outside'),
        rating('rejectAll', null, 'rejecting'),
        rating('rejectNamed', 'rejected', 'rejectingBelow'),
        rating('rejectUncaught', 'input', 'rejectingBelow'),
        caller('topOfRejected', 'rejectUncaught'),
      ],
      package: {
        // An address that the service may not call.
        systems: [{ resourceName: 'Away', type: 'REST', name: 'Away', baseUrl: 'http://169.254.1.1/' }],
        workflows: [
          workflowOf('broken', [mapping('broken', { is: '${amount / 0}' })]),
          workflowOf('outside', [
            {
              id: 'call',
              type: 'REST_ENDPOINT',
              payload: { system: { resourceName: 'Away' }, method: 'GET' },
              responseKey: 'answer',
            },
          ]),
          workflowOf('rejecting', [], {
            outputSchema: { type: 'object', required: ['score'] },
            end: { outputBody: '{ "reason": "much" }', payload: { errorCode: 'REJECTED' } },
          }),
          workflowOf('rejectingBelow', [calling('below', 'rejecting')]),
        ],
      },
    });
  });
  afterAll(() => app.close());

  const read = async (uuid: string): Promise<InstanceBody> =>
    (await app.request<InstanceBody>('GET', instancePath(uuid))).body;
  const childOf = async (parentUuid: string): Promise<ProcessInstanceEntity> => {
    const [child] = await eventually(
      () => app.dataSource.getRepository(ProcessInstanceEntity).findBy({ parentUuid }),
      (rows) => rows.length > 0,
    );
    return child as ProcessInstanceEntity;
  };
  /** Returns the ids of an instance and of the processes called from it, `length` levels in all. */
  const chain = async (uuid: string, length: number): Promise<string[]> => {
    const uuids = [uuid];
    while (uuids.length < length) {
      uuids.push((await childOf(uuids.at(-1) ?? '')).uuid);
    }
    return uuids;
  };
  const fail = async (uuid: string): Promise<void> => {
    const [token] = await tokenRows(app, (await instanceRow(app, uuid)).id);
    await executed(app, uuid, token?.uuid ?? '', ui('decide'));
  };
  const statesOf = (uuids: string[]): Promise<string[]> =>
    Promise.all(uuids.map(async (uuid) => (await instanceRow(app, uuid)).state));
  const activeElements = async (uuid: string): Promise<(string | null)[]> => {
    const { body } = await app.request<{
      tokens: { bpmnElementId: string; state: string }[];
    }>('GET', instancePath(uuid));
    return body.tokens
      .filter(({ state }) => state === 'ACTIVE')
      .map((token) => token.bpmnElementId)
      .toSorted();
  };
  const stopped = (uuid: string): Promise<InstanceBody> =>
    eventually(
      () => read(uuid),
      ({ incidents }) => incidents.length > 0,
    );

  it('an error that nothing catches fails every level up to the first process', async () => {
    const { uuid } = await started(app, published, 'top');
    const uuids = await chain(uuid, 4);
    await fail(uuids.at(-1) ?? '');
    await eventually(
      () => statesOf(uuids),
      (states) => states.every((state) => state === 'FAILED'),
    );

    for (const each of uuids) {
      const row = await instanceRow(app, each);
      expect(row.endedAt).not.toBeNull();
      expect((await read(each)).incidents).toEqual([]);
      expect((await tokenRows(app, row.id)).filter(({ live }) => live)).toEqual([]);
      const { body } = await app.request<{ events: { kind: string; data: Record<string, unknown> }[] }>(
        'GET',
        `${instancePath(each)}/history?limit=200`,
      );
      const errorEvents = body.events.filter(({ kind }) => kind === 'ERROR_THROWN' || kind === 'CHILD_ENDED');
      expect(errorEvents.map(({ data }) => data['code'] ?? data['errorCode'])).toEqual(
        each === uuids.at(-1) ? ['E'] : ['E', 'E'],
      );
      expect(body.events.find(({ data }) => data?.['to'] === 'FAILED')?.data).toMatchObject({
        errorCode: 'E',
      });
    }
  });

  it('an error is caught two levels up, once, even if its job runs again', async () => {
    const { uuid } = await started(app, published, 'catchingTop');
    const uuids = await chain(uuid, 4);
    await fail(uuids.at(-1) ?? '');
    await eventually(
      () => activeElements(uuid),
      (elements) => elements.includes('fix'),
    );
    expect(await statesOf(uuids)).toEqual(['STARTED', 'FAILED', 'FAILED', 'FAILED']);
    expect(await activeElements(uuid)).toEqual(['fix', 'other']);

    const { id } = await instanceRow(app, uuid);
    const events = await eventRows(app, id);
    const job: RuntimeJob = { kind: 'NOTIFY_PARENT', outcome: { state: 'FAILED', errorCode: 'E' } };
    await again(job, (await instanceRow(app, uuids[1] ?? '')).id);
    expect(await eventRows(app, id)).toEqual(events);
  });

  it('an error waits for the release of a caller on hold', async () => {
    const { uuid } = await started(app, published, 'top');
    const uuids = await chain(uuid, 4);
    const [, second = '', , last = ''] = uuids;
    expect((await app.request('POST', `${instancePath(second)}/hold`)).status).toBe(200);
    await fail(last);
    await eventually(
      () => statesOf(uuids),
      (states) => states[2] === 'FAILED',
    );
    await again({ kind: 'CONTINUE', at: 0 }, (await instanceRow(app, uuid)).id);
    expect(await statesOf(uuids)).toEqual(['STARTED', 'ONHOLD', 'FAILED', 'FAILED']);
    expect((await app.request('POST', `${instancePath(second)}/release`)).status).toBe(200);
    await eventually(
      () => statesOf(uuids),
      (states) => states.every((state) => state === 'FAILED'),
    );
  });

  it('a terminated child causes an incident that names it, and is not caught by a catch-all', async () => {
    const { uuid } = await started(app, published, 'catchAll');
    const child = await childOf(uuid);
    await app.request('POST', `${instancePath(child.uuid)}/terminate`);
    const { state, incidents } = await stopped(uuid);

    expect(state).toBe('STARTED');
    expect(incidents).toMatchObject([
      {
        source: 'SUBPROCESS',
        type: 'SUBPROCESS',
        message: 'CHILD_TERMINATED: Child 0 of the call activity is TERMINATED.',
        childProcessInstanceUuid: child.uuid,
      },
    ]);
    expect(await activeElements(uuid)).toEqual(['call', 'other']);
  });

  it('a failure stops only the calling activity; callers further up wait', async () => {
    const { uuid } = await started(app, published, 'top');
    const uuids = await chain(uuid, 4);
    await app.request('POST', `${instancePath(uuids[3] ?? '')}/terminate`);
    await stopped(uuids[2] ?? '');
    expect(await statesOf(uuids)).toEqual(['STARTED', 'STARTED', 'STARTED', 'TERMINATED']);
    expect((await read(uuid)).incidents).toEqual([]);
  });

  it('a terminated child is caught by its error code', async () => {
    const { uuid } = await started(app, published, 'catchTerminated');
    const child = await childOf(uuid);
    await app.request('POST', `${instancePath(child.uuid)}/terminate`);
    await eventually(
      () => activeElements(uuid),
      (elements) => elements.includes('fix'),
    );
    expect((await read(uuid)).incidents).toEqual([]);
  });

  it('a call that cannot start causes an incident or is caught by its error code', async () => {
    const { incidents } = await stopped((await started(app, published, 'catchAllUnable')).uuid);
    expect(incidents).toMatchObject([
      { source: 'SUBPROCESS', message: expect.stringMatching(/^CHILD_NOT_STARTED: Process "unable" could/) },
    ]);
    const { uuid } = await started(app, published, 'catchUnable');
    await eventually(
      () => activeElements(uuid),
      (elements) => elements.includes('fix'),
    );
  });

  it('a workflow that fails causes an incident or is caught by its error code', async () => {
    const { incidents } = await stopped((await started(app, published, 'rateAll', { amount: 7 })).uuid);
    expect(incidents).toMatchObject([{ message: expect.stringMatching(/^NODE_INPUT_INVALID: /) }]);
    const { uuid } = await started(app, published, 'rateNamed', { amount: 7 });
    await eventually(
      () => activeElements(uuid),
      (elements) => elements.includes('fix'),
    );
    expect((await read(uuid)).incidents).toEqual([]);
  });

  it('an outbound call that fails causes an incident or is caught by its error code', async () => {
    const { incidents } = await stopped((await started(app, published, 'callAll', {})).uuid);
    expect(incidents).toMatchObject([
      { type: 'WORKFLOW', message: expect.stringMatching(/^REST_CALL_FAILED: /) },
    ]);
    const { uuid } = await started(app, published, 'callNamed', {});
    await eventually(
      () => activeElements(uuid),
      (elements) => elements.includes('fix'),
    );
    expect((await read(uuid)).incidents).toEqual([]);
  });

  it.each(['rejectAll', 'rejectNamed'])('a BPMN error of a workflow is caught (%s)', async (name) => {
    const { uuid } = await started(app, published, name, { amount: 7 });
    await eventually(
      () => activeElements(uuid),
      (elements) => elements.includes('fix'),
    );
    const { incidents, data } = await read(uuid);
    expect(incidents).toEqual([]);
    expect(data).toEqual({ amount: 7 });
    const { body } = await app.request<{ runs: Record<string, unknown>[] }>(
      'GET',
      `/rtm/api/runtime/workflow-run?processInstanceUuid=${uuid}`,
    );
    expect(body.runs).toHaveLength(name === 'rejectAll' ? 1 : 2);
    for (const run of body.runs) {
      expect(run).toMatchObject({ state: 'FINISHED', errorCode: 'REJECTED', error: null });
      const details = await app.request('GET', `/rtm/api/runtime/workflow-run/${String(run['id'])}`);
      expect(details.body['output']).toEqual({ reason: 'much' });
    }
  });

  it('a BPMN error of a workflow that nothing catches fails every level, without an incident', async () => {
    const { uuid } = await started(app, published, 'topOfRejected');
    const uuids = await chain(uuid, 2);
    await eventually(
      () => statesOf(uuids),
      (states) => states.every((state) => state === 'FAILED'),
    );
    expect((await read(uuids[1] ?? '')).incidents).toEqual([]);
  });

  it('a test run shows the BPMN error that it ends with', async () => {
    const { appId, buildId } = published;
    const path = `/rtm/api/runtime/app/${appId}/build/${buildId}/workflow/rejectingBelow/test-run`;
    const { body } = await app.request<{ workflowRunId: string }>('POST', path, { body: {} });
    const run = await eventually(
      async () => (await app.request('GET', `/rtm/api/runtime/workflow-run/${body.workflowRunId}`)).body,
      ({ state }) => state !== 'STARTED',
    );
    expect(run).toMatchObject({ state: 'FINISHED', errorCode: 'REJECTED', error: null });
  });

  /** Runs background work of an instance once more, and waits for it. */
  async function again(job: RuntimeJob, instanceId: number): Promise<void> {
    const queue = app.nest.get(JobQueueService);
    const id = await app.nest.get(IdBlocks).next('job');
    await app.nest
      .get(Database)
      .write((manager) =>
        queue.add(manager, [
          { id, kind: job.kind, availableAt: new Date(0), payload: encodeJob(job), instanceId },
        ]),
      );
    queue.wake();
    await eventually(
      () => app.nest.get(Database).read((manager) => queue.ofInstance(manager, instanceId, job.kind)),
      (jobs) => jobs.every((row) => row.id !== id),
    );
  }
});
