import { v7 as uuid } from 'uuid';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Database } from '../../../src/store/database.js';
import {
  CallKind,
  CallState,
  type CallResponse,
  type OutsideCall,
} from '../../../src/runtime/calls/workflows/model/call-journal.types.js';
import { CallStore } from '../../../src/runtime/calls/workflows/journal/call-store.js';
import {
  WorkflowCallEntity,
  WorkflowRunEntity,
} from '../../../src/runtime/calls/workflows/storage/workflow-run.entity.js';
import { DataMappingExecutor } from '../../../src/runtime/calls/workflows/executors/built-in.executors.js';
import { FOLLOW_SEQUENCE, type RunScope } from '../../../src/runtime/calls/workflows/model/node-executor.js';
import { WorkflowCallsRepository } from '../../../src/runtime/calls/workflows/storage/workflow-calls.repository.js';
import { WorkflowRunsService } from '../../../src/runtime/calls/workflows/runs/workflow-runs.service.js';
import {
  CallNotMadeError,
  WorkflowFailedError,
} from '../../../src/runtime/calls/workflows/model/workflows.errors.js';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, serviceTask, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published, calling, mapping, workflowOf } from '../../support/runtime/publish.js';
import { eventually, executed, instancePath, started } from '../../support/runtime/runtime-client.js';
import { incidentRows } from '../../support/runtime/runtime-rows.js';
import { failureOf, runWorkflow } from './workflow-package.js';

const rating = processFile(
  'rating',
  `${node('startEvent', 'start')}${serviceTask('s', [{ name: 'rate', kind: 'startWorkflow', workflow: 'top' }])}
   ${node('endEvent', 'end')}${flows('start>s s>end')}`,
);

const parallel = processFile(
  'parallel',
  `${node('startEvent', 'start')}${node('parallelGateway', 'split')}
   ${serviceTask('s', [{ name: 'rate', kind: 'startWorkflow', workflow: 'top', resultKey: 'rated' }])}${userTask('change')}
   ${node('endEvent', 'x')}${node('endEvent', 'y')}${flows('start>split split>s split>change s>x change>y')}`,
);

const CALL: OutsideCall = { key: '2/a/1', kind: CallKind.Tool, request: { a: 1 }, repeatable: false };
const answer = (result: number): CallResponse => ({ result, outcome: 'OK' });
const UNKNOWN = { code: 'CALL_OUTCOME_UNKNOWN', details: CALL.key };

describe('outbound calls of workflow runs', () => {
  let app: TestApp;
  let published: Published;
  beforeAll(async () => {
    app = await TestApp.shared({
      'jobLimits.pollMs': '20',
      'jobLimits.retryBaseMs': '20',
      'workflowLimits.recordValueBytes': '256',
    });
    published = await publish(app, {
      bpmn: [rating, parallel],
      package: {
        workflows: [workflowOf('top', [calling('call', 'below')]), workflowOf('below', [mapping('a', 1)])],
      },
    });
  });
  afterAll(() => app.close());
  afterEach(() => vi.restoreAllMocks());

  /** Replaces the work of mapping nodes. */
  function mockNodes(work: (scope: RunScope) => Promise<CallResponse>): void {
    vi.spyOn(DataMappingExecutor.prototype, 'execute').mockImplementation(async (_node, { scope }) => ({
      result: (await work(scope)).result,
      next: FOLLOW_SEQUENCE,
    }));
  }

  const run = (runKey: string, workflow = 'below'): Promise<unknown> =>
    runWorkflow(app, published.buildId, workflow, { runKey });
  const calls = async (runKey: string): Promise<WorkflowCallEntity[]> => {
    const { id } = await app.dataSource.getRepository(WorkflowRunEntity).findOneByOrFail({ runKey });
    return app.dataSource.getRepository(WorkflowCallEntity).findBy({ runId: id });
  };
  const release = (runKey: string): Promise<void> =>
    app.nest.get(Database).write((manager) => app.nest.get(WorkflowRunsService).release(manager, runKey, 0));

  it('are stored before and after, and a restarted run gets the stored result', async () => {
    const runKey = uuid();
    const make = vi.fn().mockResolvedValue({
      result: { text: 'half a pair: \ud83d' },
      outcome: 'OK',
      usage: { inputTokens: 3, outputTokens: 4, cost: 0.5 },
    });
    mockNodes(async ({ calls }) => {
      await calls.once(CALL, make);
      throw new Error('the worker dies');
    });
    await failureOf(run(runKey));
    mockNodes(({ calls }) => calls.once({ ...CALL, request: { a: 2 } }, make));

    expect(await run(runKey)).toMatchObject({ a: { text: 'half a pair: \ud83d' } });
    expect(make).toHaveBeenCalledTimes(1);
    expect(await calls(runKey)).toEqual([
      expect.objectContaining({
        callKey: CALL.key,
        kind: 'TOOL',
        state: 'DONE',
        attempt: 1,
        tries: 1,
        request: '{"a":1}',
        requestBytes: 7,
        outcome: 'OK',
        usage: { inputTokens: 3, outputTokens: 4, cost: 0.5 },
        finishedAt: expect.any(Date),
      }),
    ]);
  });

  it('are repeated by a later attempt if they are repeatable', async () => {
    const runKey = uuid();
    const make = vi.fn().mockRejectedValueOnce(new Error('the worker dies')).mockResolvedValue(answer(1));
    mockNodes(({ calls }) => calls.once({ ...CALL, repeatable: true }, make));
    await failureOf(run(runKey));

    expect(await run(runKey)).toMatchObject({ a: 1 });
    expect(make).toHaveBeenCalledTimes(2);
    expect(await calls(runKey)).toMatchObject([{ state: 'DONE', attempt: 2, tries: 2 }]);
  });

  it('with an unknown outcome are repeated only once, and only if a user requests it', async () => {
    const runKey = uuid();
    const make = vi.fn().mockRejectedValueOnce(new Error('the worker dies')).mockResolvedValue(answer(1));
    mockNodes(({ calls }) => calls.once(CALL, make));
    await failureOf(run(runKey, 'top'));
    for (const attempt of ['first', 'later']) {
      const error = await failureOf(run(runKey, 'top'));
      expect(error, attempt).toBeInstanceOf(WorkflowFailedError);
      expect(error).toMatchObject({ ...UNKNOWN, node: 'call' });
    }
    expect(make).toHaveBeenCalledTimes(1);

    await release(runKey);

    expect(await run(runKey, 'top')).toMatchObject({ call: { a: 1 } });
    expect(make).toHaveBeenCalledTimes(2);
  });

  it('that were not made may be repeated', async () => {
    const runKey = uuid();
    const cause = new Error('refused');
    const make = vi.fn().mockRejectedValueOnce(new CallNotMadeError(cause)).mockResolvedValue(answer(1));
    mockNodes(({ calls }) => calls.once(CALL, make));

    expect(await failureOf(run(runKey))).toBe(cause);
    expect(await calls(runKey)).toMatchObject([{ state: 'FAILED', outcome: 'NOT_MADE', response: null }]);
    expect(await run(runKey)).toMatchObject({ a: 1 });
  });

  it('that an earlier attempt completes concurrently are not repeated', async () => {
    const runKey = uuid();
    const make = vi.fn().mockResolvedValueOnce(answer(1)).mockResolvedValue(answer(2));
    mockNodes(async ({ calls }) => {
      await calls.once({ ...CALL, repeatable: true }, make);
      throw new Error('the worker dies');
    });
    await failureOf(run(runKey));
    mockNodes(({ calls }) => calls.once({ ...CALL, repeatable: true }, make));
    const [done] = await calls(runKey);
    const before = { ...(done as WorkflowCallEntity), state: CallState.Claimed };
    vi.spyOn(WorkflowCallsRepository.prototype, 'find').mockResolvedValueOnce(before);

    expect(await run(runKey)).toMatchObject({ a: 1 });
    expect(make).toHaveBeenCalledTimes(1);
  });

  it.each([
    [true, 'FAILED', 'AGENT_DEADLINE'],
    [false, 'UNKNOWN', 'CALL_OUTCOME_UNKNOWN'],
  ])(
    'that reach a deadline (repeatable: %s) record whether they may be repeated',
    async (repeatable, state, code) => {
      const runKey = uuid();
      const make = vi.fn().mockRejectedValue(new WorkflowFailedError('AGENT_DEADLINE', 'It took too long.'));
      mockNodes(({ calls }) => calls.once({ ...CALL, repeatable }, make));

      expect(await failureOf(run(runKey))).toMatchObject({
        code,
        message: expect.stringContaining('It took too long.'),
      });
      expect(await calls(runKey)).toMatchObject([{ state, outcome: 'AGENT_DEADLINE' }]);
    },
  );

  it('show readers only the beginning of a large response', async () => {
    const runKey = uuid();
    mockNodes(({ calls }) =>
      calls.once(CALL, () => Promise.resolve({ ...answer(1), result: 'x'.repeat(5_000) })),
    );
    await run(runKey);
    const [call] = await calls(runKey);
    const { items } = await app.nest.get(CallStore).page(call?.runId ?? '', undefined, 2);
    expect(items[0]?.response).toBe(`"${'x'.repeat(256)}`);
  });

  it('cannot be started by an attempt that was replaced', async () => {
    const runKey = uuid();
    const late = vi.fn().mockResolvedValue(answer(9));
    const scopes: RunScope[] = [];
    mockNodes((scope) => Promise.reject(scopes.push(scope) > 0 ? new Error('stalls') : new Error()));
    await failureOf(run(runKey));
    const [{ calls: stalled } = { calls: undefined }] = scopes;
    mockNodes(({ calls }) =>
      calls.once({ ...CALL, repeatable: true }, async () => {
        expect(await failureOf(Promise.resolve(stalled?.once(CALL, late)))).toMatchObject({
          code: 'WORKFLOW_RUN_REPLACED',
        });
        return answer(1);
      }),
    );

    expect(await run(runKey)).toMatchObject({ a: 1 });
    expect(late).not.toHaveBeenCalled();
    // The run has finished, so not even its last attempt may make calls.
    expect(await failureOf(Promise.resolve(stalled?.once({ ...CALL, key: '9' }, late)))).toMatchObject({
      code: 'WORKFLOW_RUN_REPLACED',
    });
  });

  it('discard a response that arrives after the run was restarted', async () => {
    const runKey = uuid();
    let second: Promise<unknown> | undefined;
    const make = vi
      .fn()
      .mockImplementationOnce(async () => {
        second = run(runKey);
        await second;
        return answer(1);
      })
      .mockResolvedValue(answer(2));
    mockNodes(({ calls }) => calls.once({ ...CALL, repeatable: true }, make));

    expect(await failureOf(run(runKey))).toMatchObject({ code: 'WORKFLOW_RUN_REPLACED' });
    expect(await second).toMatchObject({ a: 2 });
    expect(await calls(runKey)).toMatchObject([{ state: 'DONE', attempt: 2, response: '2' }]);
  });

  it('store only the beginning of a request that is too large', async () => {
    const runKey = uuid();
    const request = { text: `${'x'.repeat(246)}😀 and more` };
    mockNodes(({ calls }) => calls.once({ ...CALL, request }, () => Promise.resolve(answer(1))));
    await run(runKey);
    const [call] = await calls(runKey);
    expect(call?.request).toBe(`{"text":"${'x'.repeat(246)}`);
    expect(call?.requestBytes).toBe(Buffer.byteLength(JSON.stringify(request)));
  });

  it('continue in the same run when the incident of the process is retried', async () => {
    const first = vi.fn().mockResolvedValue(answer(1));
    const second = vi.fn().mockRejectedValueOnce(new Error('the worker dies')).mockResolvedValue(answer(2));
    mockNodes(async ({ calls }) => {
      await calls.once({ ...CALL, key: 'first' }, first);
      return calls.once(CALL, second);
    });
    const { uuid: process, token, instanceMetadata } = await started(app, published, 'rating');
    const incidents = () => incidentRows(app, instanceMetadata.processInstanceId);
    const [incident] = await eventually(incidents, (rows) => rows.length === 1);
    expect(incident?.message).toMatch(/^CALL_OUTCOME_UNKNOWN: It is unknown whether this call/);
    expect(second).toHaveBeenCalledTimes(1);

    const retried = await app.request('POST', `${instancePath(process)}/token/${token.uuid}/retry`);

    expect(retried).toMatchObject({ status: 200, body: { retriedIncidents: [incident?.uuid] } });
    await eventually(
      () => app.request<{ state: string }>('GET', instancePath(process)),
      ({ body }) => body.state === 'FINISHED',
    );
    expect(first).toHaveBeenCalledTimes(1);
    expect(second).toHaveBeenCalledTimes(2);
    const runs = await app.dataSource
      .getRepository(WorkflowRunEntity)
      .findBy({ processInstanceUuid: process });
    expect(runs.map(({ workflow, state }) => `${workflow} ${state}`).toSorted()).toEqual([
      'below FINISHED',
      'top FINISHED',
    ]);
  });

  it.each([
    [false, 1, { made: 1 }],
    [true, 2, { made: 2 }],
  ])(
    'are repeated by a retry with changed data only if repeatable (repeatable: %s)',
    async (repeatable, runs, rated) => {
      const make = vi.fn().mockResolvedValueOnce(answer(1)).mockResolvedValue(answer(2));
      const broken = new WorkflowFailedError('AGENT_MODEL_FAILED', 'The language model did not answer.');
      const fails = vi.fn().mockRejectedValueOnce(broken).mockResolvedValue(undefined);
      mockNodes(async ({ calls }) => {
        const { result } = await calls.once({ ...CALL, repeatable }, make);
        await fails();
        return { result: { made: result }, outcome: 'OK' };
      });
      const { uuid: process, tokens, instanceMetadata } = await started(app, published, 'parallel', { n: 1 });
      const incidents = () => incidentRows(app, instanceMetadata.processInstanceId);
      const [incident] = await eventually(incidents, (rows) => rows.length === 1);
      expect(incident?.message).toBe('AGENT_MODEL_FAILED: The language model did not answer.');
      const stopped = tokens.find(({ id }) => id === incident?.tokenId)?.uuid;
      const other = tokens.find(({ currentNodeName }) => currentNodeName === 'change')?.uuid;
      await executed(app, process, other ?? '', ui('change'), { n: 2 });

      const retried = await app.request('POST', `${instancePath(process)}/token/${stopped}/retry`);

      expect(retried).toMatchObject({ status: 200, body: { retriedIncidents: [incident?.uuid] } });
      const { body } = await eventually(
        () => app.request<{ state: string; data: unknown }>('GET', instancePath(process)),
        (found) => found.body.state === 'FINISHED',
      );
      expect(make).toHaveBeenCalledTimes(runs);
      const roots = { processInstanceUuid: process, workflow: 'top' };
      expect(await app.dataSource.getRepository(WorkflowRunEntity).countBy(roots)).toBe(runs);
      const n = repeatable ? 2 : 1;
      expect(body.data).toMatchObject({ n: 2, rated: { n, call: { n, a: rated } } });
    },
  );
});
