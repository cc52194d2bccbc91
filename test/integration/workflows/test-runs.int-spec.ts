import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { shardOfUuid } from '../../../src/store/shards.js';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import { WorkflowRunEntity } from '../../../src/runtime/calls/workflows/storage/workflow-run.entity.js';
import { DataMappingExecutor } from '../../../src/runtime/calls/workflows/executors/built-in.executors.js';
import { TestApp } from '../../support/app.js';
import { publish, type Published, calling, mapping, workflowOf } from '../../support/runtime/publish.js';
import { eventually } from '../../support/runtime/runtime-client.js';
import { auditRows } from '../systems/rows.js';

interface Run {
  id: string;
  state: string;
  origin: string;
  processInstanceUuid: string | null;
  output: unknown;
  error: { code: string } | null;
}

describe('POST /rtm/api/runtime/app/{appId}/build/{buildId}/workflow/{workflowName}/test-run', () => {
  let app: TestApp;
  let published: Published;
  beforeAll(async () => {
    app = await TestApp.shared({
      'jobLimits.pollMs': '20',
      'jobLimits.retryBaseMs': '20',
      'jobLimits.maxAttempts': '2',
      'workflowLimits.dataBytes': '2000',
    });
    const inputSchema = { type: 'object', required: ['n'] };
    published = await publish(app, {
      package: {
        workflows: [
          workflowOf('double', [{ ...mapping('a', 1), inputBody: '${n * 2}' }], { inputSchema }),
          workflowOf('outer', [calling('call', 'double')]),
          workflowOf('names', [{ ...mapping('a', 1), inputBody: '{ "p": ${processInstanceId} }' }]),
        ],
      },
    });
  });
  afterAll(() => app.close());

  const path = (workflow: string, { appId, buildId } = published) =>
    `/rtm/api/runtime/app/${appId}/build/${buildId}/workflow/${workflow}/test-run`;
  const start = (workflow: string, body?: unknown) =>
    app.request<{ workflowRunId: string }>('POST', path(workflow), body === undefined ? {} : { body });
  const read = async (id: string) =>
    (await app.request<Run>('GET', `/rtm/api/runtime/workflow-run/${id}`)).body;
  const ended = (id: string) =>
    eventually(
      () => read(id),
      ({ state }) => state !== 'STARTED',
    );

  it('answers 202 with the id of the run, which a job executes', async () => {
    const { status, body, headers } = await start('outer', { n: 4 });
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(`/rtm/api/runtime/workflow-run/${body.workflowRunId}`);
    expect(await ended(body.workflowRunId)).toMatchObject({
      state: 'FINISHED',
      origin: 'TEST',
      processInstanceUuid: null,
      output: { n: 4, call: { n: 4, a: 8 } },
    });
    const children = await app.request<{ runs: Run[] }>(
      'GET',
      `/rtm/api/runtime/workflow-run?parentRunId=${body.workflowRunId}`,
    );
    expect(children.body.runs).toMatchObject([
      { workflow: 'double', origin: 'TEST', processInstanceUuid: null },
    ]);
    await eventually(
      () => app.dataSource.getRepository(RuntimeJobEntity).countBy({ kind: 'WORKFLOW_TEST' }),
      (jobs) => jobs === 0,
    );
    const { appId, versionId } = published;
    expect((await auditRows(app, { appId, versionId })).at(-1)).toMatchObject({
      action: 'workflow.test',
      outcome: 'ok',
      details: { buildId: published.buildId, workflow: 'outer', workflowRunId: body.workflowRunId },
    });
  });

  it('starts one run for equal requests with an Idempotency-Key, and marks replayed answers', async () => {
    const call = (body: unknown) =>
      app.request<{ workflowRunId: string; message: string }>('POST', path('double'), {
        body,
        headers: { 'idempotency-key': 'test-1' },
      });
    const concurrent = await Promise.all(Array.from({ length: 4 }, () => call({ n: 5 })));
    const answers = [...concurrent, await call({ n: 5 })];

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1);
    const marks = answers.map(({ headers }) => headers.get('idempotent-replayed'));
    expect(marks.filter((mark) => mark === null)).toHaveLength(1);
    expect(marks.at(-1)).toBe('true');
    const [first] = answers;
    expect(await ended(first?.body.workflowRunId ?? '')).toMatchObject({
      state: 'FINISHED',
      output: { a: 10 },
    });
    const other = await call({ n: 6 });
    expect([other.status, other.body.message]).toEqual([
      409,
      'The Idempotency-Key was used for a request with another body.',
    ]);
  });

  it('reports invalid input in the run', async () => {
    const { body } = await start('double');
    expect(await ended(body.workflowRunId)).toMatchObject({
      state: 'FAILED',
      error: { code: 'WORKFLOW_INPUT_INVALID' },
    });
  });

  it('ends with all its subworkflows when its job is given up', async () => {
    const lost = vi
      .spyOn(DataMappingExecutor.prototype, 'execute')
      .mockImplementation(async (_node, { scope }) => {
        const runs = app.dataSource.getRepository(WorkflowRunEntity);
        // Simulates a dead worker: nothing that it does from here on is stored.
        await runs.increment({ id: scope.runId, shard: shardOfUuid(scope.runId) }, 'attempt', 1);
        throw new Error('the worker dies');
      });
    const { body } = await start('outer', { n: 4 });
    expect(await ended(body.workflowRunId)).toMatchObject({
      state: 'FAILED',
      error: { code: 'WORKFLOW_INTERRUPTED' },
    });
    await eventually(
      () => app.dataSource.getRepository(RuntimeJobEntity).countBy({ kind: 'WORKFLOW_TEST' }),
      (jobs) => jobs === 0,
    );
    lost.mockRestore();
    const children = await app.dataSource
      .getRepository(WorkflowRunEntity)
      .findBy({ parentRunId: body.workflowRunId });
    expect(children).toMatchObject([{ workflow: 'double', state: 'FAILED' }]);
  });

  it('has no process instance', async () => {
    const { body } = await start('names', {});
    expect(await ended(body.workflowRunId)).toMatchObject({ output: { a: { p: null } } });
  });

  it('answers 404 for an unknown workflow before checking the body, and 400 for an invalid body', async () => {
    const broken = { rawBody: '{', headers: { 'content-type': 'application/json' } };
    expect((await app.request('POST', path('other'), broken)).body).toMatchObject({
      message: 'Workflow not found.',
    });
    expect(
      (await app.request('POST', path('double', { ...published, buildId: 'none' }), broken)).status,
    ).toBe(404);
    expect((await app.request('POST', path('double', { ...published, appId: 'other' }), broken)).status).toBe(
      404,
    );
    expect((await app.request('POST', path('double'), broken)).status).toBe(400);
    expect((await app.request('POST', path('double'), { body: [1] })).status).toBe(400);
    const rounded = { rawBody: '{"n":3544790567247868102}' };
    expect((await app.request('POST', path('double'), rounded)).body['details']).toContain(
      'n: is a number too large',
    );
    expect((await app.request('POST', path('a%20b'))).status).toBe(400);
    expect((await start('double', { n: 'x'.repeat(2_000) })).status).toBe(400);
  });

  it('requires its own permission', async () => {
    const token = await app.tokenWith({
      scope: 'openid process:read process:administer application:deliver',
    });
    const refused = await app.request('POST', path('double'), { token });
    expect(refused.status).toBe(403);
    expect(refused.body['message']).toBe('Insufficient permissions to test workflows');
    expect((await app.request('POST', path('double'), { token: null })).status).toBe(401);
  });
});
