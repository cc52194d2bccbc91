import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import {
  callsTools,
  observations,
  refuses,
  says,
  startModelServer,
  type ModelServer,
} from '../../support/peers/model-server.js';
import { noSocketsLeft } from '../../support/peers/peer.js';
import { startToolsPeer, type ToolsPeer } from '../../support/peers/official.peers.js';
import type { Published } from '../../support/runtime/publish.js';
import { eventually, instancePath, started } from '../../support/runtime/runtime-client.js';
import { incidentRows } from '../../support/runtime/runtime-rows.js';
import { publishAgent } from './agent-support.js';

const RUNS = '/rtm/api/runtime/workflow-run';
const TOKEN = 'Bearer abcdefghijklmnop0123456789';

interface CallBody {
  key: string;
  kind: string;
  state: string;
  tries: number;
  outcome: string | null;
  durationMs: number | null;
  usage: { inputTokens: number | null } | null;
  request: { messages?: { role: string }[]; tools?: string[]; arguments?: unknown } | string;
  response: { ok?: boolean; result?: string } | string | null;
  cut: string[];
}

describe('an agent of a process', () => {
  let app: TestApp;
  let model: ModelServer;
  let peer: ToolsPeer;
  let published: Published;
  /** Releases the tools that hang. */
  let releaseTools: () => void;
  beforeAll(async () => {
    model = await startModelServer();
    peer = await startToolsPeer({});
    peer.tools = {
      look: { annotations: { readOnlyHint: true }, run: () => hanging('seen') },
      send: { run: () => hanging('sent') },
      say: { run: (text) => text },
    };
    app = await TestApp.start({
      'jobLimits.pollMs': '20',
      'jobLimits.retryBaseMs': '20',
      'workflowLimits.cancelCheckMs': '50',
      LLM_BASE_URL: model.url,
      LLM_MODEL: 'scripted',
      'modelLimits.maxRetries': '0',
      'workflowLimits.recordValueBytes': '4000',
    });
    published = await publishAgent(app, { servers: [peer.url] });
  });
  afterAll(async () => {
    await app.close();
    await Promise.all([model.close(), peer.close()]);
  });
  afterEach(() => {
    releaseTools();
    model.questions.length = 0;
    peer.called.length = 0;
  });
  let wait: Promise<void> = Promise.resolve();
  const hanging = async (result: string): Promise<string> => {
    await wait;
    return result;
  };
  const hang = (): void => {
    wait = new Promise((resolve) => {
      releaseTools = resolve;
    });
  };
  releaseTools = () => undefined;

  const afterCalls = (...calls: [string, unknown][]): ModelServer['reply'] => {
    return (question) =>
      observations(question).length === 0 ? callsTools(...calls) : says({ verdict: 'ok' });
  };
  const runOf = async (processInstanceUuid: string): Promise<string> => {
    const { body } = await eventually(
      () =>
        app.request<{ runs: { id: string }[] }>('GET', `${RUNS}?processInstanceUuid=${processInstanceUuid}`),
      (found) => found.body.runs.length === 1,
    );
    return body.runs[0]?.id ?? '';
  };
  const trace = (
    runId: string,
    query = '',
  ): Promise<TestResponse<{ calls: CallBody[]; next: string | null }>> =>
    app.request('GET', `${RUNS}/${runId}/calls${query}`);
  const ended = (uuid: string, state = 'FINISHED') =>
    eventually(
      () => app.request<{ state: string }>('GET', instancePath(uuid)),
      ({ body }) => body.state === state,
    );
  const called = (count: number) =>
    eventually(
      () => Promise.resolve(peer.called.length),
      (length) => length === count,
    );
  const incident = async (id: number) =>
    (
      await eventually(
        () => incidentRows(app, id),
        (rows) => rows.some(({ state }) => state === 'OPEN'),
      )
    ).find(({ state }) => state === 'OPEN');

  describe('GET /rtm/api/runtime/workflow-run/{workflowRunId}/calls', () => {
    it('shows every step of a run, page by page', async () => {
      model.reply = afterCalls(['tools__look', { text: 'a' }], ['tools__say', { text: TOKEN }]);
      const { uuid } = await started(app, published, 'advising');
      await ended(uuid);
      const runId = await runOf(uuid);

      const { status, body } = await trace(runId);
      expect(status).toBe(200);
      expect(body.next).toBeNull();
      expect(
        body.calls.map(({ key, kind, state, tries, outcome }) => [key, kind, state, tries, outcome]),
      ).toEqual([
        ['2/agent/m1', 'MODEL', 'DONE', 1, 'OK'],
        ['2/agent/m1.t1', 'TOOL', 'DONE', 1, 'OK'],
        ['2/agent/m1.t2', 'TOOL', 'DONE', 1, 'OK'],
        ['2/agent/m2', 'MODEL', 'DONE', 1, 'OK'],
      ]);
      const [first, look, say, last] = body.calls;
      expect(first).toMatchObject({
        request: {
          messages: [{ role: 'system' }, { role: 'user' }],
          tools: ['tools__look', 'tools__send', 'tools__say'],
        },
        usage: { inputTokens: 10, outputTokens: 5, cost: null },
        response: { content: 'I need to look.' },
      });
      expect(look).toMatchObject({
        usage: null,
        durationMs: expect.any(Number),
        request: { name: 'tools__look', system: 'tools', tool: 'look', arguments: { text: 'a' } },
        response: { ok: true, result: 'seen' },
        cut: [],
      });
      expect(say?.response).toEqual({ ok: true, result: 'Bearer [removed]' });
      expect(JSON.stringify(body)).not.toContain(TOKEN);
      expect(last?.request).toMatchObject({
        messages: [{ role: 'assistant' }, { role: 'tool' }, { role: 'tool' }],
      });

      const pages: string[] = [];
      for (let next: string | null = ''; next !== null;) {
        const after: string = next === '' ? '' : `&after=${encodeURIComponent(next)}`;
        const page = await trace(runId, `?limit=3${after}`);
        pages.push(...page.body.calls.map(({ key }) => key));
        next = page.body.next;
      }
      expect(pages).toEqual(body.calls.map(({ key }) => key));
    });

    it('truncates requests and responses that are too large', async () => {
      model.reply = afterCalls(['tools__say', { text: 'x'.repeat(5_000) }]);
      const { uuid } = await started(app, published, 'advising');
      await ended(uuid);
      const { body } = await trace(await runOf(uuid));
      const tool = body.calls[1];
      expect(tool?.cut).toEqual(['request', 'response']);
      expect(tool?.response).toHaveLength(4_000);
      expect(tool?.response).toMatch(/^\{"ok":true,"result":"xxx/);
    });

    it('answers 404 for a run that does not exist, 400 for a bad query, 401 and 403', async () => {
      const none = '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40';
      expect((await trace(none)).status).toBe(404);
      expect((await trace(none, '?limit=0')).status).toBe(400);
      expect((await trace(none, '?after=')).status).toBe(400);
      expect((await trace('no%20id')).status).toBe(400);
      const path = `${RUNS}/${none}/calls`;
      expect((await app.request('GET', path, { token: null })).status).toBe(401);
      const token = await app.tokenWith({ scope: 'openid' });
      expect((await app.request('GET', path, { token })).status).toBe(403);
    });

    it('is empty for a run without calls', async () => {
      const other = await publishAgent(app, { servers: [peer.url], tested: false });
      const { uuid, instanceMetadata } = await started(app, other, 'advising');
      expect((await incident(instanceMetadata.processInstanceId))?.message).toContain(
        'None of the MCP systems',
      );
      expect(await trace(await runOf(uuid))).toMatchObject({ status: 200, body: { calls: [], next: null } });
    });
  });

  it('resumes where it stopped when its incident is retried', async () => {
    model.reply = (question) =>
      observations(question).length === 0 ? callsTools(['tools__send', {}]) : refuses(500);
    const { uuid, token, instanceMetadata } = await started(app, published, 'advising');
    const stopped = await incident(instanceMetadata.processInstanceId);
    expect(stopped?.message).toBe('AGENT_MODEL_FAILED: The language model did not answer: HTTP_500.');

    model.reply = () => says({ verdict: 'ok' });
    const retried = await app.request('POST', `${instancePath(uuid)}/token/${token.uuid}/retry`);
    expect(retried.status).toBe(200);
    await ended(uuid);
    expect(peer.called).toEqual(['send']);
    expect(model.questions).toHaveLength(3);
    const { body } = await trace(await runOf(uuid));
    expect(body.calls.map(({ outcome, tries }) => [outcome, tries])).toEqual([
      ['OK', 1],
      ['OK', 1],
      ['OK', 2],
    ]);
  });

  it.each([
    ['tools__look', 'FINISHED', 2],
    ['tools__send', 'STARTED', 1],
  ])('survives the loss of its worker during a call of %s', async (name, state, times) => {
    hang();
    model.reply = afterCalls([name, {}]);
    const { uuid, token, instanceMetadata } = await started(app, published, 'advising');
    await called(1);
    // Another worker takes the job, so the service discards the results of the first one.
    const jobs = app.dataSource.getRepository(RuntimeJobEntity);
    await jobs.update(
      { instanceId: instanceMetadata.processInstanceId },
      { lease: null, availableAt: new Date(0) },
    );
    if (times > 1) {
      await called(times);
      releaseTools();
    } else {
      const stopped = await incident(instanceMetadata.processInstanceId);
      expect(stopped?.message).toMatch(
        /^CALL_OUTCOME_UNKNOWN: It is unknown whether this call of kind TOOL had an effect/,
      );
      const { body } = await trace(await runOf(uuid));
      expect(body.calls[1]).toMatchObject({ state: 'UNKNOWN', outcome: null, response: null });
      expect(await app.request('GET', instancePath(uuid))).toMatchObject({ body: { state } });
      releaseTools();
      await app.request('POST', `${instancePath(uuid)}/token/${token.uuid}/retry`);
    }
    await ended(uuid);
    expect(peer.called).toHaveLength(2);
    expect(model.questions).toHaveLength(2);
  });

  it('closes its connections when the instance is terminated', async () => {
    model.reply = () => () => undefined;
    const { uuid } = await started(app, published, 'advising');
    await eventually(
      () => Promise.resolve(model.questions.length),
      (count) => count === 1,
    );
    await app.request('POST', `${instancePath(uuid)}/terminate`, { body: {} });
    await eventually(
      () => Promise.resolve(model.openSockets()),
      (count) => count === 0,
    );
    await noSocketsLeft(model);
    const { body } = await app.request<{ state: string }>('GET', `${RUNS}/${await runOf(uuid)}`);
    expect(body.state).toBe('CANCELLED');
    expect(model.questions).toHaveLength(1);
  });
});
