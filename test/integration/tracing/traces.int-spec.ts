import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestApp } from '../../support/app.js';
import {
  callsTools,
  observations,
  says,
  startModelServer,
  type ModelServer,
} from '../../support/peers/model-server.js';
import { type CollectedSpan, startTraceCollector, type TraceCollector } from './trace-collector.js';
import { startHttpPeer } from '../../support/peers/peer.js';
import { startToolsPeer, type ToolsPeer } from '../../support/peers/official.peers.js';
import {
  flows,
  node,
  processFile,
  serviceTask,
  taskProcess,
  timerEvent,
  ui,
  userTask,
} from '../../support/runtime/process-files.js';
import { publish, type Published, workflowOf } from '../../support/runtime/publish.js';
import { eventually, execute, instancePath, start } from '../../support/runtime/runtime-client.js';
import { publishAgent } from '../agents/agent-support.js';
import { IS_EMBEDDED } from '../jobs/job-replica.js';
import { startTraced, traced } from './trace-support.js';

const SERVER = 2;
const CLIENT = 3;
const CONSUMER = 5;

const waiting = processFile(
  'waiting',
  `${node('startEvent', 'start')}
   ${node('intermediateCatchEvent', 'wait', timerEvent('timeDuration', 'PT1S'))}
   ${node('endEvent', 'end')}${flows('start>wait wait>end')}`,
);

describe('traces', () => {
  let collector: TraceCollector;
  let app: TestApp;
  let model: ModelServer;
  let peer: ToolsPeer;
  let published: Published;

  beforeAll(async () => {
    [collector, model, peer] = await Promise.all([
      startTraceCollector(),
      startModelServer(),
      startToolsPeer({}),
    ]);
    peer.tools = { look: { annotations: { readOnlyHint: true }, run: () => 'secret-result' } };
    app = await startTraced({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector,x-team=a',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      'jobLimits.pollMs': '20',
      LLM_BASE_URL: model.url,
      LLM_MODEL: 'scripted',
      'modelLimits.maxRetries': '0',
    });
    published = await publish(app, { bpmn: [taskProcess('plain', userTask('a')), waiting] });
    // Load definitions and allocate ids before the traced requests.
    await start(app, published, 'plain', {});
  });
  afterAll(async () => {
    await app.close();
    vi.unstubAllEnvs();
    await Promise.all([collector, model, peer].map((each) => each.close()));
  });
  afterEach(() => {
    collector.answer = undefined;
  });

  const named = (spans: readonly CollectedSpan[], name: RegExp): CollectedSpan[] =>
    spans.filter((span) => name.test(span.name));
  const one = (spans: readonly CollectedSpan[], name: RegExp): CollectedSpan => {
    const [found, ...others] = named(spans, name);
    expect(found, String(name)).toBeDefined();
    expect(others, String(name)).toEqual([]);
    return found as CollectedSpan;
  };
  const chain = (spans: readonly CollectedSpan[], last: CollectedSpan): string[] => {
    const above = spans.find(({ spanId }) => spanId === last.parentSpanId);
    return above === undefined ? [last.name] : [...chain(spans, above), last.name];
  };

  it('contain a request, its handler, its step and its statements', async () => {
    const { headers, traceId, parentId } = traced();
    const { status } = await start(app, published, 'plain', { password: 'secret-body' }, { headers });
    expect(status).toBe(200);

    const spans = await collector.trace(traceId, (found) => named(found, /^POST /).length > 0);
    const request = one(spans, /^POST /);
    expect(request).toMatchObject({ kind: SERVER, parentSpanId: parentId, status: {} });
    expect(request.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/rtm/api/runtime/app/:appId/build/:buildId/process-name/:processDefinitionName/start',
      'http.response.status_code': '200',
    });
    const insert = one(spans, /^INSERT process_instances$/);
    expect(chain(spans, insert)).toEqual([
      request.name,
      'ProcessStartController.start',
      'process start',
      'INSERT process_instances',
    ]);
    expect(insert).toMatchObject({ kind: CLIENT });
    expect(insert.attributes['db.query.text']).toMatch(/^INSERT INTO process_instances .*\?/);
    expect(['sqlite', 'mysql', 'mariadb']).toContain(insert.attributes['db.system.name']);
    expect(named(spans, /^COMMIT$/)).toHaveLength(1);
    for (const { startTimeUnixNano: startTime, endTimeUnixNano: endTime } of spans) {
      expect(BigInt(endTime)).toBeGreaterThanOrEqual(BigInt(startTime));
      expect(Math.abs(Number(BigInt(startTime) / 1_000_000n) - Date.now())).toBeLessThan(600_000);
    }
  });

  it('continue from a start through its job and workflow nodes, and propagate to model and tool', async () => {
    const advised = await publishAgent(app, { servers: [peer.url] });
    peer.traceparents.length = 0;
    peer.metas.length = 0;
    model.headers.length = 0;
    model.reply = (question) =>
      observations(question).length === 0
        ? callsTools(['tools__look', { text: 'secret-argument' }])
        : says({ verdict: 'secret-answer' });
    const { headers, traceId } = traced();
    const { body } = await start(app, advised, 'advising', { name: 'secret-data' }, { headers });
    await eventually(
      () => app.request<{ state: string }>('GET', instancePath(body.uuid)),
      (found) => found.body.state === 'FINISHED',
    );

    const done = (found: CollectedSpan[]): CollectedSpan | undefined =>
      named(found, /^job WORKFLOW$/).find(({ attributes }) => attributes['svc.job.outcome'] === 'completed');
    const spans = await collector.trace(traceId, (found) => done(found) !== undefined);
    const request = one(spans, /^POST /);
    const job = done(spans) as CollectedSpan;
    expect(job).toMatchObject({ kind: CONSUMER });
    const [chat] = named(spans, /^chat scripted$/);
    const tool = one(spans, /^tools\/call look$/);
    expect(chain(spans, chat as CollectedSpan)).toEqual([
      ...chain(spans, job),
      'node CUSTOM_AGENT',
      'chat scripted',
    ]);
    expect(chain(spans, tool)).toEqual([...chain(spans, job), 'node CUSTOM_AGENT', 'tools/call look']);
    expect(chain(spans, job)[0]).toBe(request.name);
    // The job ends with a step.
    expect(named(spans, /^process step$/).map((span) => chain(spans, span).at(-2))).toContain('job WORKFLOW');

    const [first] = model.headers;
    expect(first?.['traceparent']).toBe(`00-${traceId}-${chat?.spanId}-01`);
    expect(peer.traceparents).toContain(`00-${traceId}-${tool.spanId}-01`);
    expect(peer.metas).toContainEqual(
      expect.objectContaining({ traceparent: `00-${traceId}-${tool.spanId}-01` }),
    );
    expect(chat?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'scripted',
    });
    expect(tool.attributes).toMatchObject({ 'gen_ai.tool.name': 'look', 'mcp.method.name': 'tools/call' });
  });

  const startAsking = async (url: string, method: string): Promise<string> => {
    const ask = {
      id: 'ask',
      type: 'REST_ENDPOINT',
      responseKey: 'answer',
      payload: { system: { resourceName: 'Scores' }, method, path: '/secret-path' },
    };
    const asking = serviceTask('ask', [{ name: 'ask', kind: 'startWorkflow', workflow: 'flow' }]);
    const built = await publish(app, {
      bpmn: processFile(
        'asking',
        `${node('startEvent', 'start')}${asking}${node('endEvent', 'end')}${flows('start>ask ask>end')}`,
      ),
      package: {
        systems: [{ resourceName: 'Scores', type: 'REST', name: 'Scores', baseUrl: url }],
        workflows: [workflowOf('flow', [ask])],
      },
    });
    const { headers, traceId } = traced();
    expect((await start(app, built, 'asking', {}, { headers })).status).toBe(200);
    return traceId;
  };

  it('propagate to a REST system, and contain only its server address', async () => {
    const seen: unknown[] = [];
    const rest = await startHttpPeer((request, response) => {
      seen.push(request.headers['traceparent']);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":"secret-answer"}');
    });
    try {
      const traceId = await startAsking(rest.url, 'GET');
      const spans = await collector.trace(traceId, (found) => named(found, /^job WORKFLOW$/).length > 0);
      const call = one(spans, /^GET$/);
      expect(call).toMatchObject({
        kind: CLIENT,
        attributes: { 'server.address': '127.0.0.1', 'http.response.status_code': '200' },
      });
      expect(chain(spans, call).at(-2)).toBe('node REST_ENDPOINT');
      expect(seen).toEqual([`00-${traceId}-${call.spanId}-01`]);
    } finally {
      await rest.close();
    }
  });

  it.each([
    {
      how: 'rejects it',
      status: 404,
      attributes: { 'error.type': 'HTTP_404', 'http.response.status_code': '404' },
    },
    { how: 'closes the connection', status: undefined, attributes: { 'error.type': 'NETWORK' } },
  ])('contain the reason if a REST system $how', async ({ status, attributes }) => {
    const rest = await startHttpPeer((_request, response) => {
      if (status === undefined) {
        response.destroy();
      } else {
        response.writeHead(status).end('secret-answer');
      }
    });
    try {
      const traceId = await startAsking(rest.url, 'POST');
      const spans = await collector.trace(traceId, (found) => named(found, /^POST$/).length > 0);
      const call = one(spans, /^POST$/);
      expect(call).toMatchObject({ kind: CLIENT, status: { code: 2 }, attributes });
    } finally {
      await rest.close();
    }
  });

  it.skipIf(IS_EMBEDDED)('continue with a job on another replica', async () => {
    const called = `called-${published.buildId.slice(0, 8)}`;
    const calls = serviceTask('call', [{ name: 'call', kind: 'startSubprocess', process: called }]);
    const { buildId, appId } = await publish(app, {
      bpmn: [
        taskProcess(called, userTask('a')),
        processFile(
          'calling',
          `${node('startEvent', 'start')}${calls}${node('endEvent', 'end')}${flows('start>call call>end')}`,
        ),
      ],
    });
    const front = await startTraced({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      JOBS_CONCURRENCY: '0',
    });
    try {
      const { headers, traceId } = traced();
      expect((await start(front, { buildId, appId }, 'calling', {}, { headers })).status).toBe(200);
      const spans = await collector.trace(traceId, (found) => named(found, /^job CALL$/).length > 0);
      const [job, request] = [/^job CALL$/, /^POST /].map((name) => one(spans, name));
      expect(job?.instance).not.toBe(request?.instance);
      expect(chain(spans, job as CollectedSpan)[0]).toBe(request?.name);
    } finally {
      await front.close();
    }
  });

  it('of later work are separate, and linked to the trace that caused it', async () => {
    const { headers, traceId } = traced();
    const { body } = await start(app, published, 'waiting', {}, { headers });
    await eventually(
      () => app.request<{ state: string }>('GET', instancePath(body.uuid)),
      (found) => found.body.state === 'FINISHED',
    );

    const [job] = await eventually(
      () => Promise.resolve(named(collector.spans, /^job TIMER$/)),
      (found) => found.length > 0,
    );
    expect(job?.traceId).not.toBe(traceId);
    expect(job?.parentSpanId).toBeUndefined();
    expect(job?.links).toMatchObject([{ traceId }]);
  });

  it('contain a shared transaction once, in one trace and linked to the others', async () => {
    const instances = await Promise.all(Array.from({ length: 12 }, () => start(app, published, 'plain', {})));
    const all = instances.map(({ body }) => ({ ...traced(), body }));
    await Promise.all(
      all.map(({ headers, body }) =>
        execute(app, body.uuid, body.tokens[0]?.uuid ?? '', ui('a'), {}, { headers }),
      ),
    );

    const ids = new Set(all.map(({ traceId }) => traceId));
    const mine = await eventually(
      () => Promise.resolve(collector.spans.filter(({ traceId }) => ids.has(traceId))),
      (found) => named(found, /^POST /).length === all.length,
    );
    const [shared] = named(mine, /^shared transaction$/);
    expect(shared?.links.length).toBeGreaterThan(0);
    expect(shared?.links.every(({ traceId }) => ids.has(traceId) && traceId !== shared.traceId)).toBe(true);
    expect(Number(shared?.attributes['svc.shared.by'])).toBe((shared?.links.length ?? 0) + 1);
    const below = mine.filter(({ parentSpanId }) => parentSpanId === shared?.spanId);
    expect(named(below, /^COMMIT$/)).toHaveLength(1);
    // Each request that shares the transaction has its own step in its own trace.
    for (const { traceId } of all) {
      const own = mine.filter((span) => span.traceId === traceId);
      expect(named(own, /^process step$/)).toHaveLength(1);
    }
  });

  it('contain the failed step and the type of its error', async () => {
    const { body } = await start(app, published, 'plain', {});
    const again = (headers = {}) =>
      execute(app, body.uuid, body.tokens[0]?.uuid ?? '', ui('a'), { a: 'secret-body' }, { headers });
    expect((await again()).status).toBe(200);
    const { headers, traceId } = traced();
    const { status } = await again(headers);
    expect(status).toBeGreaterThanOrEqual(400);

    const spans = await collector.trace(traceId, (found) => named(found, /^POST /).length > 0);
    expect(one(spans, /^POST /)).toMatchObject({
      status: {},
      attributes: { 'http.response.status_code': String(status) },
    });
    expect(one(spans, /^process step$/)).toMatchObject({
      status: { code: 2 },
      attributes: { 'error.type': expect.stringMatching(/^\w+$/) as string },
    });
  });

  it('contain no data, bearer tokens, queries or paths of callers', async () => {
    const { headers, traceId } = traced();
    await app.request('GET', `/rtm/api/runtime/process-instance?state=secret-query`, { headers });
    const unmatched = traced();
    await app.request('GET', '/secret-path', { headers: unmatched.headers });
    await collector.trace(traceId, (found) => named(found, /^GET /).length > 0);
    const [request] = await collector.trace(unmatched.traceId, (found) => found.length > 0);
    expect(request?.name).toBe('GET unmatched');

    const text = collector.requests.map(({ body }) => body).join('\n');
    expect(text).not.toMatch(/secret-|eyJ|Bearer|of-the-collector/);
  });

  it('are sent to the collector with its headers and the resource attributes of the deployment', () => {
    const [request] = collector.requests;
    expect(request).toMatchObject({
      path: '/v1/traces',
      headers: {
        authorization: 'Bearer of-the-collector',
        'x-team': 'a',
        'content-type': 'application/json',
      },
    });
    expect(request?.body).toMatch(/"service.name","value":{"stringValue":"svc-platform"}/);
    expect(request?.body).toMatch(/"deployment.environment.name","value":{"stringValue":"test"}/);
  });

  it('omit health probes', async () => {
    const { headers, traceId } = traced();
    await app.request('GET', '/readyz', { token: null, headers });
    const { headers: others, traceId: later } = traced();
    await app.request('GET', instancePath('0'), { headers: others });
    await collector.trace(later, (found) => found.length > 0);
    expect(collector.spans.some((span) => span.traceId === traceId)).toBe(false);
  });
});
