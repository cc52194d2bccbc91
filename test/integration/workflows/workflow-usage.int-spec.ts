import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { DataMappingExecutor } from '../../../src/runtime/calls/workflows/executors/built-in.executors.js';
import { CallKind, type CallUsage } from '../../../src/runtime/calls/workflows/model/call-journal.types.js';
import { FOLLOW_SEQUENCE } from '../../../src/runtime/calls/workflows/model/node-executor.js';
import type { WorkflowUsageDto } from '../../../src/runtime/calls/workflows/reading/workflow-usage.dto.js';
import { workflowLimits } from '../../../src/runtime/calls/workflows/workflow.limits.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { multiplyRows, planOf, RANDOM_TEXT, statementsOf } from '../../support/databases/query-plans.js';
import { uniqueName } from '../../support/factories.js';
import { publish, type Published, mapping, workflowOf } from '../../support/runtime/publish.js';
import { failureOf, runWorkflow } from './workflow-package.js';

const PATH = '/rtm/api/runtime/workflow-usage';
const isEmbedded = String(process.env['DATABASE_URL']).startsWith('sqlite:');
/** Vitess returns one plan per shard. */
const isVitess = process.env['TEST_DATABASE'] === 'vitess';
const LONG_AGO = '2020-01-01 00:00:00.000';
const RULES = {
  'application-delivery': [{ claim: 'scope', has: 'application:deliver' }],
  'process-read': [
    { claim: 'scope', has: 'process:read' },
    { claim: 'roles', hasAt: 'reader' },
  ],
};
const workflows = [workflowOf('advise', [mapping('a', 1)])];

let app: TestApp;
let mine: Published;
let other: Published;
/** Token of a caller who may read only `mine`. */
let reader: string;

const read = (
  query: Record<string, string> = {},
  token: string | null = reader,
): Promise<TestResponse<WorkflowUsageDto & { details: string }>> =>
  app.request('GET', `${PATH}?${new URLSearchParams(query).toString()}`, { token });
const readerOf = (...apps: string[]): Promise<string> =>
  app.tokenWith({
    sub: uniqueName('caller'),
    scope: 'openid',
    roles: apps.map((appId) => `reader@${appId}`),
  });
/** Executes a run that makes these calls. */
const run = async (
  { buildId }: Published,
  ...calls: { kind?: CallKind; usage?: CallUsage }[]
): Promise<void> => {
  vi.spyOn(DataMappingExecutor.prototype, 'execute').mockImplementation(async (_node, { scope }) => {
    for (const [index, { kind = CallKind.Model, ...response }] of calls.entries()) {
      const call = { key: `2/a/${index}`, kind, request: {}, repeatable: true };
      await scope.calls.once(call, () => Promise.resolve({ result: 1, outcome: 'OK', ...response }));
    }
    return { result: 1, next: FOLLOW_SEQUENCE };
  });
  await runWorkflow(app, buildId, 'advise');
};

beforeAll(async () => {
  app = await TestApp.start({ JOBS_CONCURRENCY: '0', PERMISSION_RULES: JSON.stringify(RULES) });
  mine = await publish(app, { package: { workflows } });
  other = await publish(app, { package: { workflows } });
  reader = await readerOf(mine.appId);
  await run(
    mine,
    { usage: { inputTokens: 100, outputTokens: 10, cost: 0.5 } },
    { usage: { inputTokens: 200, outputTokens: null, cost: null } },
    { kind: CallKind.Tool },
  );
  await run(mine, { usage: { inputTokens: 1, outputTokens: 2, cost: 0.25 } }, {});
  await run(mine, { kind: CallKind.Rest });
  await run(other, { usage: { inputTokens: 7_000, outputTokens: 7, cost: null } });
  vi.spyOn(DataMappingExecutor.prototype, 'execute').mockRejectedValue(new Error('the worker dies'));
  await failureOf(runWorkflow(app, mine.buildId, 'advise'));
  vi.restoreAllMocks();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => app.close());

describe('GET /rtm/api/runtime/workflow-usage', () => {
  it('returns totals of runs and of the usage of their agents', async () => {
    const { status, body } = await read();
    const { from, to, ...sums } = body;

    expect(status).toBe(200);
    expect(sums).toEqual({
      runs: [
        { state: 'STARTED', count: 0 },
        { state: 'FINISHED', count: 3 },
        { state: 'FAILED', count: 1 },
        { state: 'CANCELLED', count: 0 },
      ],
      agentRuns: 2,
      modelCalls: 4,
      inputTokens: 301,
      outputTokens: 12,
      cost: 0.75,
      complete: true,
    });
    expect(new Date(to).getTime() - new Date(from).getTime()).toBe(24 * 3_600_000);
  });

  it('includes only applications that the caller may read', async () => {
    const { body } = await read({}, await readerOf(other.appId));
    expect(body).toMatchObject({ agentRuns: 1, inputTokens: 7_000, cost: null });
    const both = await read({}, await readerOf(mine.appId, other.appId));
    expect(both.body).toMatchObject({ agentRuns: 3, inputTokens: 7_301 });
    const all = await app.request<WorkflowUsageDto>('GET', PATH);
    expect(all.body.agentRuns).toBeGreaterThanOrEqual(3);
    expect(all.body.inputTokens).toBeGreaterThanOrEqual(7_301);
  });

  it('includes only runs and calls that started in the given period', async () => {
    const none = { agentRuns: 0, modelCalls: 0, inputTokens: 0, outputTokens: 0, cost: null };
    const { body } = await read({ to: '2020-01-02T00:00:00Z' });
    expect(body).toMatchObject({ ...none, from: '2020-01-01T00:00:00.000Z', complete: true });
    expect(body.runs.map(({ count }) => count)).toEqual([0, 0, 0, 0]);
    expect((await read({ from: '2999-01-01T00:00:00Z' })).body).toMatchObject(none);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    expect((await read({ from: since })).body).toMatchObject({ from: since, modelCalls: 4 });
  });

  it('reports if the number of calls exceeds the limit', async () => {
    workflowLimits.usageCalls = 1;
    expect((await read()).body).toMatchObject({ modelCalls: 1, complete: false });
    workflowLimits.usageCalls = 4;
    expect((await read()).body).toMatchObject({ modelCalls: 4, complete: true });
    workflowLimits.usageCalls = 10_000;
  });

  it('answers 401, 403 and 400', async () => {
    expect((await read({}, null)).status).toBe(401);
    expect((await read({}, await readerOf())).status).toBe(403);
    for (const query of [{ from: 'yesterday' }, { to: '1' }, { limit: '1' }]) {
      expect({ query, status: (await read(query)).status }).toEqual({ query, status: 400 });
    }
    const long = await read({ from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00.001Z' });
    expect(long.status).toBe(400);
    expect(long.body.details).toBe('from: must be at most 31 days before to');
    expect((await read({ from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' })).status).toBe(200);
  });

  it('needs only two statements', async () => {
    expect(await statementsOf(app, () => read())).toHaveLength(2);
  });

  describe.skipIf(isVitess)('with many rows', () => {
    beforeAll(async () => {
      await multiplyRows(app, 'workflow_runs', { id: RANDOM_TEXT, run_key: RANDOM_TEXT });
      await multiplyRows(app, 'workflow_calls', { run_id: RANDOM_TEXT, started_at: { all: LONG_AGO } });
    });

    it.each([
      ['FROM workflow_calls', 'ix_workflow_calls_started'],
      // The primary key starts with the time, so servers may prefer it if few runs are in the period.
      ['FROM workflow_runs', isEmbedded ? 'ix_workflow_runs_state' : /ix_workflow_runs_state|PRIMARY/],
    ])('uses an index: %s', async (text, index) => {
      for (const token of [undefined, reader]) {
        const plan = (await planOf(app, text, () => app.request('GET', PATH, token ? { token } : {}))).join();
        expect(plan).toMatch(index);
        expect(plan).not.toMatch(/Table scan on (run|c)\b|"type":"ALL"/);
      }
    });

    it('finds the newest calls without sorting', async () => {
      const plan = (await planOf(app, 'FROM workflow_calls', () => app.request('GET', PATH))).join();
      expect(plan).not.toMatch(/TEMP B-TREE|filesort|Sort/);
    });
  });
});
