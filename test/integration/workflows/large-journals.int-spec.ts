import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallStore } from '../../../src/runtime/calls/workflows/journal/call-store.js';
import { CallKind, CallState } from '../../../src/runtime/calls/workflows/model/call-journal.types.js';
import { workflowCallPageSteps } from '../../../src/runtime/calls/workflows/reading/workflow-call.dto.js';
import { workflowRunDetailsSteps } from '../../../src/runtime/calls/workflows/reading/workflow-run.dto.js';
import {
  WorkflowCallEntity,
  WorkflowRunEntity,
  type RunCallPage,
} from '../../../src/runtime/calls/workflows/storage/workflow-run.entity.js';
import type { YieldingWork } from '#engine/support';
import { WorkflowRunsRepository } from '../../../src/runtime/calls/workflows/storage/workflow-runs.repository.js';
import { TestApp } from '../../support/app.js';
import { publish, mapping, workflowOf } from '../../support/runtime/publish.js';
import { runWorkflow } from './workflow-package.js';

const PATH = '/rtm/api/runtime/workflow-run';
const CALLS = 40;
/** Default of `recordValueBytes`. */
const RECORD_VALUE_BYTES = 65_536;
const VALUES = valuesOf(21_000);
/** A smaller value for run data, which contains the value several times. */
const RUN_VALUES = valuesOf(10_000);

function valuesOf(count: number, secret = 'hunter22'): string {
  return `[${'{},'.repeat(count)}{"token":"${secret}"}]`;
}

/** Reports whether a value is complete and its secret is removed. */
function isShown(value: unknown, count: number): boolean {
  return JSON.stringify(value) === valuesOf(count, '[removed]');
}

let app: TestApp;
let runId: string;
beforeAll(async () => {
  app = await TestApp.shared();
  const { buildId } = await publish(app, {
    package: {
      workflows: [
        workflowOf(
          'large',
          ['a', 'b', 'c'].map((id) => mapping(id, '${values}')),
        ),
      ],
    },
  });
  await runWorkflow(app, buildId, 'large', { input: { values: JSON.parse(RUN_VALUES) as unknown } });
  runId = (await app.dataSource.getRepository(WorkflowRunEntity).findOneByOrFail({ buildId })).id;
  for (let index = 0; index < CALLS; index += 1) {
    await app.dataSource.getRepository(WorkflowCallEntity).insert(callOf(index));
  }
});
afterAll(() => app.close());

function callOf(index: number): WorkflowCallEntity {
  return {
    runId,
    shard: 0,
    callKey: `2/a/${index}`,
    kind: CallKind.Rest,
    state: CallState.Done,
    attempt: 1,
    tries: 1,
    repeatable: 1,
    startedAt: new Date(1_700_000_000_000 + index),
    finishedAt: new Date(1_700_000_000_000 + index),
    outcome: 'OK',
    usage: null,
    request: '{}',
    requestBytes: 2,
    response: VALUES,
  };
}

/** Counts the slices of work. */
function sliceCount(steps: YieldingWork<unknown>): number {
  let count = 1;
  while (steps.next().done !== true) {
    count += 1;
  }
  return count;
}

describe('GET /rtm/api/runtime/workflow-run/{workflowRunId}/calls', () => {
  it('limits a page of large responses to one megabyte, and all pages contain all calls', async () => {
    const keys: string[] = [];
    const sizes: number[] = [];
    for (let next: string | null = ''; next !== null;) {
      const after: string = next === '' ? '' : `&after=${encodeURIComponent(next)}`;
      const { status, body } = await app.request<{
        calls: { key: string; response: unknown }[];
        next: string | null;
      }>('GET', `${PATH}/${runId}/calls?limit=100${after}`);
      expect(status).toBe(200);
      expect(body.calls.every(({ response }) => isShown(response, 21_000))).toBe(true);
      keys.push(...body.calls.map(({ key }) => key));
      sizes.push(body.calls.length);
      next = body.next;
    }
    expect(sizes).toEqual([17, 17, 6]);
    expect(keys).toEqual(Array.from({ length: CALLS }, (_, index) => `2/a/${index}`));
  });

  it('builds a page in more slices than it has calls', async () => {
    const page: RunCallPage = {
      ...(await app.nest.get(CallStore).page(runId, undefined, CALLS)),
      maxLength: RECORD_VALUE_BYTES,
    };
    expect(sliceCount(workflowCallPageSteps(page))).toBeGreaterThan(page.items.length);
  });
});

describe('GET /rtm/api/runtime/workflow-run/{workflowRunId}', () => {
  it('shows large inputs and outputs without secrets', async () => {
    const { status, body } = await app.request<{ nodes: { nodeId: string; output: unknown }[] }>(
      'GET',
      `${PATH}/${runId}`,
    );
    expect(status).toBe(200);
    const outputs = body.nodes.filter(({ nodeId }) => nodeId === 'a');
    expect(outputs).toHaveLength(1);
    expect(outputs.every(({ output }) => isShown(output, 10_000))).toBe(true);
  });

  it('builds the details in more slices than there are visits', async () => {
    const run = await app.nest.get(WorkflowRunsRepository).find(runId, null);
    if (run === null) {
      throw new Error('There is no such run.');
    }
    expect(sliceCount(workflowRunDetailsSteps(run))).toBeGreaterThan(3);
  });
});
