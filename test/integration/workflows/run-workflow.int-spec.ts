import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NestedDatabaseUseError } from '../../../src/store/database.errors.js';
import { Database } from '../../../src/store/database.js';
import { WorkflowRunEntity } from '../../../src/runtime/calls/workflows/storage/workflow-run.entity.js';
import { RunJournal } from '../../../src/runtime/calls/workflows/journal/run-journal.js';
import { RunStore } from '../../../src/runtime/calls/workflows/journal/run-store.js';
import { WorkflowRunsRepository } from '../../../src/runtime/calls/workflows/storage/workflow-runs.repository.js';
import {
  WorkflowRunOrigin,
  WorkflowRunState,
} from '../../../src/runtime/calls/workflows/model/workflow.types.js';
import { WorkflowFailedError } from '../../../src/runtime/calls/workflows/model/workflows.errors.js';
import { TestApp } from '../../support/app.js';
import { publish, calling, sequence, mapping, workflowOf } from '../../support/runtime/publish.js';
import { failureOf, runWorkflow } from './workflow-package.js';

describe('running a workflow', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({
      'workflowLimits.nodes': '20',
      'workflowLimits.depth': '2',
      'workflowLimits.dataBytes': '20000',
    });
  });
  afterAll(() => app.close());

  const rows = (processInstanceUuid: string) =>
    app.dataSource
      .getRepository(WorkflowRunEntity)
      .find({ where: { processInstanceUuid }, order: { id: 'ASC' } });
  const attempts = async (processInstanceUuid: string) =>
    (await rows(processInstanceUuid)).map(({ attempt, state }) => [attempt, state]);
  const built = async (...workflows: Record<string, unknown>[]) =>
    (await publish(app, { package: { workflows } })).buildId;

  it('returns its output and stores the journal of its nodes', async () => {
    const buildId = await built(
      workflowOf(
        'rate',
        [
          {
            id: 'fork',
            type: 'CONDITION',
            conditions: [
              { id: 'much', expression: 'amount > 1000', nextNodeId: 'strict', order: 1 },
              { id: 'else', nextNodeId: 'lax', order: 2, isDefault: true },
            ],
            outgoingSequences: [sequence('fork', 'strict'), sequence('fork', 'lax')],
          },
          {
            ...mapping('strict', { rule: 'strict', of: '${processInstanceId}' }, 'made'),
            outgoingSequences: [sequence('strict', 'end')],
          },
          mapping('lax', { rule: 'lax' }, 'made'),
        ],
        { end: { outputBody: '{"rule": "${made.rule}", "of": ${made.of}}' } },
      ),
    );
    const processInstanceUuid = uuid();

    const output = await runWorkflow(app, buildId, 'rate', { input: { amount: 1001 }, processInstanceUuid });

    expect(output).toEqual({ rule: 'strict', of: processInstanceUuid });
    const [row, ...others] = await rows(processInstanceUuid);
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      runKey: row?.id,
      attempt: 1,
      buildId,
      appId: null,
      workflow: 'rate',
      state: WorkflowRunState.Finished,
      origin: 'PROCESS',
      parentRunId: null,
      startedAt: expect.any(Date),
      finishedAt: expect.any(Date),
      error: null,
      errorCode: null,
    });
    expect(JSON.parse(row?.output ?? '')).toEqual(output);
    const nodes = JSON.parse(row?.nodes ?? '') as { nodeId: string; output: unknown }[];
    expect(nodes.map((node) => [node.nodeId, node.output])).toEqual([
      ['start', { amount: 1001 }],
      ['fork', { condition: 'much' }],
      ['strict', { rule: 'strict', of: processInstanceUuid }],
      ['end', output],
    ]);
  });

  it('stores why it failed', async () => {
    const buildId = await built(workflowOf('rate', [], { inputSchema: { required: ['amount'] } }));
    const processInstanceUuid = uuid();
    const error = await failureOf(runWorkflow(app, buildId, 'rate', { processInstanceUuid }));
    expect(error).toBeInstanceOf(WorkflowFailedError);
    expect(error).toMatchObject({
      code: 'WORKFLOW_INPUT_INVALID',
      node: 'start',
      details: 'amount: is required',
    });
    const [row] = await rows(processInstanceUuid);
    expect(row).toMatchObject({
      state: WorkflowRunState.Failed,
      finishedAt: expect.any(Date),
      error: { code: 'WORKFLOW_INPUT_INVALID', node: 'start', details: 'amount: is required' },
      output: null,
    });
    expect(JSON.parse(row?.nodes ?? '')).toMatchObject([{ nodeId: 'start', state: 'FAILED' }]);
  });

  it('fails at a node of type DATA_SOURCE, which this release does not support', async () => {
    const payload = { system: { resourceName: 'data' }, collection: 'a', operation: 'find' };
    const odd = { id: 'odd', type: 'DATA_SOURCE', responseKey: 'r', payload };
    const workflows = [workflowOf('later', [odd])];
    const systems = [{ resourceName: 'data', name: 'Data', type: 'NOSQL_DB' }];
    const { buildId } = await publish(app, { package: { workflows, systems } });
    expect(await failureOf(runWorkflow(app, buildId, 'later'))).toMatchObject({
      code: 'NODE_TYPE_NOT_SUPPORTED',
      node: 'odd',
      message: 'This release does not run nodes of type DATA_SOURCE.',
    });
  });

  it('fails if the workflow is not in the build', async () => {
    const buildId = await built(workflowOf('rate'));
    const processInstanceUuid = uuid();
    const absent = await failureOf(runWorkflow(app, buildId, 'absent', { processInstanceUuid }));
    expect(absent).toMatchObject({
      code: 'WORKFLOW_NOT_FOUND',
      message: 'The build has no workflow absent.',
    });
    expect(await rows(processInstanceUuid)).toMatchObject([
      { workflow: 'absent', state: WorkflowRunState.Failed },
    ]);
    expect(await failureOf(runWorkflow(app, buildId, 'rate', { appId: 'elsewhere' }))).toMatchObject({
      code: 'WORKFLOW_NOT_FOUND',
    });
    expect(await failureOf(runWorkflow(app, uuid(), 'rate'))).toMatchObject({ code: 'WORKFLOW_NOT_FOUND' });
  });

  it('rejects running inside a transaction', async () => {
    const buildId = await built(workflowOf('rate'));
    const database = app.nest.get(Database);
    const work = database.write(async () => runWorkflow(app, buildId, 'rate'));
    expect(await failureOf(work)).toBeInstanceOf(NestedDatabaseUseError);
  });

  describe('with subworkflows', () => {
    it('stores each as a child run of the one that started it', async () => {
      const library = await publish(app, {
        package: { workflows: [workflowOf('score', [mapping('score', '${processInstanceId}')])] },
      });
      const { appId, buildId } = await publish(app, {
        libraries: [{ appId: library.appId, buildId: library.buildId }],
        package: {
          workflows: [
            workflowOf('rate', [
              calling('own', 'half', undefined, { inputBody: '{"a": ${a}}' }),
              calling('other', 'score', library.appId),
            ]),
            workflowOf('half', [mapping('half', { of: '${a}' })]),
          ],
        },
      });
      const processInstanceUuid = uuid();

      const output = await runWorkflow(app, buildId, 'rate', { input: { a: 1, b: 2 }, processInstanceUuid });

      const own = { a: 1, half: { of: 1 } };
      expect(output).toEqual({ a: 1, b: 2, own, other: { a: 1, b: 2, own, score: processInstanceUuid } });
      const [parent, ...children] = await rows(processInstanceUuid);
      expect(parent).toMatchObject({ workflow: 'rate', parentRunId: null });
      expect(children).toMatchObject([
        { workflow: 'half', appId, parentRunId: parent?.id, buildId, state: WorkflowRunState.Finished },
        { workflow: 'score', appId: library.appId, parentRunId: parent?.id, buildId },
      ]);
    });

    it('stops if one fails, and reports which one and why', async () => {
      const buildId = await built(
        workflowOf('top', [calling('call', 'middle'), mapping('after', 1)]),
        workflowOf('middle', [calling('call', 'bottom')]),
        workflowOf('bottom', [mapping('broken', '${1 / 0}')]),
      );
      const processInstanceUuid = uuid();
      expect(await failureOf(runWorkflow(app, buildId, 'top', { processInstanceUuid }))).toMatchObject({
        code: 'SUBWORKFLOW_FAILED',
        node: 'call',
        message: 'The subworkflow middle failed at its node "call".',
        details: 'NODE_INPUT_INVALID: The template of the node cannot be filled with the data of the run.',
      });
      const stored = await rows(processInstanceUuid);
      expect(stored.map(({ workflow, state, error }) => [workflow, state, error?.code])).toEqual([
        ['top', 'FAILED', 'SUBWORKFLOW_FAILED'],
        ['middle', 'FAILED', 'SUBWORKFLOW_FAILED'],
        ['bottom', 'FAILED', 'NODE_INPUT_INVALID'],
      ]);
      expect(JSON.parse(stored[0]?.nodes ?? '')).toHaveLength(2);
    });

    it('limits the depth', async () => {
      const buildId = await built(
        workflowOf('a', [calling('call', 'b')]),
        workflowOf('b', [calling('call', 'c')]),
        workflowOf('c', [calling('call', 'd')]),
        workflowOf('d'),
      );
      expect(await runWorkflow(app, buildId, 'b')).toHaveProperty('call');
      expect(await failureOf(runWorkflow(app, buildId, 'a'))).toMatchObject({
        code: 'WORKFLOW_DEPTH_LIMIT',
        node: 'call',
      });
    });

    it('limits the total number of nodes', async () => {
      const calls = Array.from({ length: 10 }, (_, index) => calling(`call${index}`, 'small'));
      const buildId = await built(workflowOf('wide', calls), workflowOf('small'));
      expect(await failureOf(runWorkflow(app, buildId, 'wide'))).toMatchObject({
        code: 'WORKFLOW_NODE_LIMIT',
      });
    });

    it('limits the size of the data', async () => {
      const buildId = await built(
        workflowOf('top', [mapping('one', ['${a}', '${a}']), calling('two', 'copy')]),
        workflowOf('copy', [mapping('b', ['${a}', '${one}'])]),
      );
      expect(
        await failureOf(runWorkflow(app, buildId, 'top', { input: { a: 'x'.repeat(6_000) } })),
      ).toMatchObject({
        code: 'SUBWORKFLOW_FAILED',
        details: expect.stringMatching(/^WORKFLOW_DATA_LIMIT/),
      });
    });
  });

  describe('again', () => {
    it('returns the output of a finished run, without a second run', async () => {
      const buildId = await built(workflowOf('rate', [mapping('a', '${now}')]));
      const request = { processInstanceUuid: uuid(), runKey: `job-${uuid()}` };
      const first = await runWorkflow(app, buildId, 'rate', { ...request, input: { now: 'first' } });
      const second = await runWorkflow(app, buildId, 'rate', { ...request, input: { now: 'second' } });
      expect(second).toEqual(first);
      expect(await attempts(request.processInstanceUuid)).toEqual([[1, 'FINISHED']]);
    });

    it('starts a new run without a key', async () => {
      const buildId = await built(workflowOf('rate'));
      const processInstanceUuid = uuid();
      await runWorkflow(app, buildId, 'rate', { processInstanceUuid });
      await runWorkflow(app, buildId, 'rate', { processInstanceUuid });
      expect(await rows(processInstanceUuid)).toHaveLength(2);
    });

    it('takes over the run of a dead worker, including subworkflows', async () => {
      const buildId = await built(workflowOf('top', [calling('call', 'sub')]), workflowOf('sub'));
      const request = { processInstanceUuid: uuid(), runKey: `job-${uuid()}`, input: { a: 1 } };
      await runWorkflow(app, buildId, 'top', request);
      // Simulates a worker that died before it stored the end of the run.
      await app.dataSource
        .getRepository(WorkflowRunEntity)
        .update(
          { processInstanceUuid: request.processInstanceUuid },
          { state: WorkflowRunState.Started, finishedAt: null, nodes: null, output: null },
        );
      expect(await runWorkflow(app, buildId, 'top', request)).toEqual({ a: 1, call: { a: 1 } });
      expect(await attempts(request.processInstanceUuid)).toEqual([
        [2, 'FINISHED'],
        [2, 'FINISHED'],
      ]);
    });

    it('restarts a failed run', async () => {
      const buildId = await built(workflowOf('rate', [], { inputSchema: { required: ['a'] } }));
      const request = { processInstanceUuid: uuid(), runKey: `job-${uuid()}` };
      await failureOf(runWorkflow(app, buildId, 'rate', request));
      expect(await runWorkflow(app, buildId, 'rate', { ...request, input: { a: 1 } })).toEqual({ a: 1 });
      expect(await attempts(request.processInstanceUuid)).toEqual([[2, 'FINISHED']]);
    });

    it('ignores results of a worker that lost the run to another', async () => {
      const store = app.nest.get(RunStore);
      const processInstanceUuid = uuid();
      const names = {
        buildId: 'b',
        appId: null,
        workflow: 'rate',
        processInstanceUuid,
        shard: 0,
        processTokenId: null,
        parentRunId: null,
        origin: WorkflowRunOrigin.Process,
      };
      const journal = new RunJournal();
      const lost = await store.begin({ ...names, runKey: `job-${processInstanceUuid}` });
      const held = await store.begin({ ...names, runKey: `job-${processInstanceUuid}` });
      expect(held.id).toBe(lost.id);
      await store.fail(lost, journal, new Error('the lease is lost'));
      expect(await rows(processInstanceUuid)).toMatchObject([
        { state: WorkflowRunState.Started, attempt: 2 },
      ]);
      await store.finish(held, journal, { output: 'held', errorCode: null });
      await store.finish(lost, journal, { output: 'lost', errorCode: null });
      expect(await app.nest.get(WorkflowRunsRepository).find(held.id, null)).toMatchObject({
        state: WorkflowRunState.Finished,
        output: '"held"',
      });
    });

    it('executes one run for concurrent requests', async () => {
      const buildId = await built(workflowOf('rate', [mapping('a', 1)]));
      const request = { processInstanceUuid: uuid(), runKey: `job-${uuid()}` };
      const outputs = await Promise.all(
        Array.from({ length: 10 }, () => runWorkflow(app, buildId, 'rate', request)),
      );
      expect(new Set(outputs.map((output) => JSON.stringify(output)))).toEqual(new Set(['{"a":1}']));
      expect(await rows(request.processInstanceUuid)).toMatchObject([{ state: WorkflowRunState.Finished }]);
    });
  });

  describe('that is aborted', () => {
    it('throws the reason, and the run can be restarted', async () => {
      const buildId = await built(workflowOf('rate'));
      const request = { processInstanceUuid: uuid(), runKey: `job-${uuid()}` };
      const reason = new Error('the replica stops');
      const signal = AbortSignal.abort(reason);
      expect(await failureOf(runWorkflow(app, buildId, 'rate', { ...request, signal }))).toBe(reason);
      expect(await rows(request.processInstanceUuid)).toMatchObject([
        { state: WorkflowRunState.Failed, error: { code: 'WORKFLOW_INTERRUPTED' } },
      ]);
      await runWorkflow(app, buildId, 'rate', request);
      expect(await rows(request.processInstanceUuid)).toMatchObject([
        { state: WorkflowRunState.Finished, attempt: 2, error: null },
      ]);
    });
  });
});
