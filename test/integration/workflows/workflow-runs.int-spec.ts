import { randomUUID } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { publish, calling, mapping, workflowOf } from '../../support/runtime/publish.js';
import { failureOf, runWorkflow } from './workflow-package.js';

const PATH = '/rtm/api/runtime/workflow-run';

interface Run {
  id: string;
  workflow: string;
  state: string;
  startedAt: string;
  parentRunId: string | null;
}

interface Page {
  runs: Run[];
  next: string | null;
  details?: string;
}

let app: TestApp;
let build: { appId: string; buildId: string };
beforeAll(async () => {
  app = await TestApp.start({ 'workflowLimits.recordValueBytes': '300', 'pageLimits.size': '3' });
  build = await publish(app, {
    package: {
      workflows: [
        workflowOf('rate', [calling('score', 'score', undefined, { inputBody: '{"of": ${a}}' })]),
        workflowOf('score', [mapping('points', '${missing.path}')], { inputSchema: { required: ['of'] } }),
      ],
    },
  });
});
afterAll(() => app.close());

const run = (workflow: string, input: Record<string, unknown>, processInstanceUuid = uuid()) =>
  runWorkflow(app, build.buildId, workflow, { input, processInstanceUuid });
const list = (query: Record<string, string>) =>
  app.request<Page>('GET', `${PATH}?${new URLSearchParams(query).toString()}`);

describe('GET /rtm/api/runtime/workflow-run', () => {
  it('lists runs of all workflows, newest first', async () => {
    const processInstanceUuid = uuid();
    const before = Date.now();
    await run('score', { of: 1 }, processInstanceUuid);
    await failureOf(run('score', {}, processInstanceUuid));
    await run('rate', { a: 1 }, processInstanceUuid);

    const { status, body } = await list({ processInstanceUuid, limit: '10' });

    expect(status).toBe(200);
    expect(body.next).toBeNull();
    expect(body.runs.map(({ workflow, state }) => [workflow, state])).toEqual([
      ['score', 'FINISHED'],
      ['rate', 'FINISHED'],
      ['score', 'FAILED'],
      ['score', 'FINISHED'],
    ]);
    expect(body.runs[0]?.parentRunId).toBe(body.runs[1]?.id);
    expect(body.runs[2]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workflow: 'score',
      buildId: build.buildId,
      appId: null,
      state: 'FAILED',
      origin: 'PROCESS',
      processInstanceUuid,
      parentRunId: null,
      startedAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
      finishedAt: expect.stringMatching(/Z$/),
      error: {
        code: 'WORKFLOW_INPUT_INVALID',
        node: 'start',
        message: 'The input of the workflow does not match its model.',
        details: 'of: is required',
      },
      errorCode: null,
    });
    expect(Date.parse(body.runs[2]?.startedAt ?? '')).toBeGreaterThanOrEqual(before);
  });

  it('filters by state, workflow and parent', async () => {
    const processInstanceUuid = uuid();
    await failureOf(run('score', {}, processInstanceUuid));
    await run('rate', { a: 1 }, processInstanceUuid);
    const found = async (query: Record<string, string>) => {
      const { body } = await list({ processInstanceUuid, ...query });
      return body.runs.map(({ workflow, state }) => `${workflow} ${state}`);
    };
    expect(await found({ state: 'FAILED' })).toEqual(['score FAILED']);
    expect(await found({ state: 'STARTED' })).toEqual([]);
    expect(await found({ workflow: 'rate' })).toEqual(['rate FINISHED']);
    const { body } = await list({ processInstanceUuid, workflow: 'rate' });
    expect(await found({ parentRunId: String(body.runs[0]?.id) })).toEqual(['score FINISHED']);
    expect(await found({ parentRunId: String(body.runs[0]?.id).toUpperCase() })).toEqual(['score FINISHED']);
    expect(await found({ parentRunId: uuid() })).toEqual([]);
  });

  it('filters by start time', async () => {
    const processInstanceUuid = uuid();
    for (let count = 0; count < 3; count += 1) {
      await run('score', { of: count }, processInstanceUuid);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const { body } = await list({ processInstanceUuid });
    const [, second] = body.runs;
    const started = String(second?.startedAt);
    const ids = async (query: Record<string, string>) =>
      (await list({ processInstanceUuid, ...query })).body.runs.map(({ id }) => id);
    expect(await ids({ from: started })).toEqual([body.runs[0]?.id, second?.id]);
    expect(await ids({ to: started })).toEqual([body.runs[2]?.id]);
    const withOffset = new Date(Date.parse(started) + 3_600_000).toISOString().replace('Z', '+01:00');
    expect(await ids({ from: withOffset })).toEqual([body.runs[0]?.id, second?.id]);
    expect(await ids({ from: '2999-01-01T00:00:00Z' })).toEqual([]);
    expect(await ids({ to: '1969-01-01T00:00:00Z' })).toEqual([]);
  });

  it('returns all runs in pages without gaps', async () => {
    const processInstanceUuid = uuid();
    for (let count = 0; count < 7; count += 1) {
      await run('score', { of: count }, processInstanceUuid);
    }
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let next: string | null = ''; next !== null;) {
      const before: Record<string, string> = next === '' ? {} : { before: next };
      const { body } = await list({ processInstanceUuid, ...before });
      seen.push(...body.runs.map(({ id }) => id));
      sizes.push(body.runs.length);
      next = body.next;
    }
    expect(sizes).toEqual([3, 3, 1]);
    expect(seen).toEqual([...new Set(seen)].toSorted().toReversed());
  });

  it.each([
    ['state', 'DONE', 'must be STARTED, FINISHED, FAILED or CANCELLED'],
    ['processInstanceUuid', 'x', 'must be a UUID'],
    ['parentRunId', "' or 1=1", 'must be a UUID'],
    ['workflow', '', 'must have 1 to 255 characters'],
    ['from', 'yesterday', 'must be an ISO 8601 date and time'],
    ['to', '2026-02-30T00:00:00Z', 'must be an ISO 8601 date and time'],
    ['before', randomUUID(), 'must be the value of next from a page'],
    ['limit', '0', 'must be at least 1'],
    ['limit', '101', 'must be at most 100'],
    ['limit', '1.5', 'must be a whole number'],
  ])('answers 400 for %s=%s', async (field, value, rule) => {
    const { status, body } = await list({ [field]: value });
    expect({ status, details: body.details }).toEqual({ status: 400, details: `${field}: ${rule}` });
  });

  it('answers 400 for a repeated filter', async () => {
    const { status } = await app.request('GET', `${PATH}?state=FAILED&state=STARTED`);
    expect(status).toBe(400);
  });

  it('answers 401 without a token and 403 without the permission', async () => {
    expect((await app.request('GET', PATH, { token: null })).status).toBe(401);
    const token = await app.tokenWith({ scope: 'openid integration:manage application:deliver' });
    const { status, body } = await app.request('GET', PATH, { token });
    expect({ status, message: body['message'] }).toEqual({
      status: 403,
      message: 'Insufficient permissions to read process data',
    });
    const role = await app.tokenWith({ scope: 'openid', realm_access: { roles: ['process-read'] } });
    expect((await app.request('GET', PATH, { token: role })).status).toBe(200);
  });
});

describe('GET /rtm/api/runtime/workflow-run/{workflowRunId}', () => {
  it('returns the journal of the nodes and what was omitted', async () => {
    const processInstanceUuid = uuid();
    const input = { of: 'x'.repeat(300) };
    await run('score', input, processInstanceUuid);
    const [listed] = (await list({ processInstanceUuid })).body.runs;

    const { status, body } = await app.request('GET', `${PATH}/${listed?.id}`);

    expect(status).toBe(200);
    const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/) as unknown;
    const common = {
      state: 'FINISHED',
      startedAt: time,
      finishedAt: time,
      input: null,
      missing: [],
      error: null,
    };
    expect(body).toEqual({
      ...listed,
      nodes: [
        { nodeId: 'start', name: 'start', type: 'START', ...common, output: null, omitted: ['output'] },
        {
          nodeId: 'points',
          name: 'points',
          type: 'DATA_MAPPING',
          ...common,
          output: null,
          omitted: [],
          missing: ['missing.path'],
        },
        { nodeId: 'end', name: 'end', type: 'END', ...common, output: null, omitted: ['output'] },
      ],
      output: { ...input, points: null },
    });
  });

  it('returns a failed run', async () => {
    const processInstanceUuid = uuid();
    await failureOf(run('score', {}, processInstanceUuid));
    const [listed] = (await list({ processInstanceUuid })).body.runs;
    const { body } = await app.request('GET', `${PATH}/${listed?.id}`);
    expect(body).toMatchObject({
      state: 'FAILED',
      output: null,
      nodes: [{ nodeId: 'start', state: 'FAILED', output: null, error: { code: 'WORKFLOW_INPUT_INVALID' } }],
    });
  });

  it('answers 404 for an unknown run and 400 for a malformed id', async () => {
    const absent = await app.request('GET', `${PATH}/${uuid()}`);
    expect({ status: absent.status, message: absent.body['message'] }).toEqual({
      status: 404,
      message: 'Workflow run not found.',
    });
    expect((await app.request('GET', `${PATH}/xx`)).status).toBe(404);
    const broken = await app.request('GET', `${PATH}/no%20id`);
    expect({ status: broken.status, details: broken.body['details'] }).toEqual({
      status: 400,
      details: expect.stringContaining('workflowRunId: '),
    });
  });

  it('answers 401 without a token and 403 without the permission, whether or not the run exists', async () => {
    const processInstanceUuid = uuid();
    await run('score', { of: 1 }, processInstanceUuid);
    const [listed] = (await list({ processInstanceUuid })).body.runs;
    const token = await app.tokenWith({ scope: 'openid' });
    for (const id of [listed?.id, uuid()]) {
      expect((await app.request('GET', `${PATH}/${id}`, { token: null })).status).toBe(401);
      expect((await app.request('GET', `${PATH}/${id}`, { token })).status).toBe(403);
    }
  });
});
