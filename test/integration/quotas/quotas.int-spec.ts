import type { Logger } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QuotaUseEntity } from '../../../src/runtime/quotas/storage/quota-use.entity.js';
import { TestApp } from '../../support/app.js';
import { callsTools, says, startModelServer, type ModelServer } from '../../support/peers/model-server.js';
import { startToolsPeer, type ToolsPeer } from '../../support/peers/official.peers.js';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import { uniqueName } from '../../support/factories.js';
import {
  flows,
  node,
  processFile,
  serviceTask,
  taskProcess,
  ui,
  userTask,
} from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { eventually, execute, start, started } from '../../support/runtime/runtime-client.js';
import { countInstances, incidentRows } from '../../support/runtime/runtime-rows.js';
import { publishAgent } from '../agents/agent-support.js';
import { failureOf, runWorkflow } from '../workflows/workflow-package.js';

/** A window of 31 days, which is unlikely to end during a test. Windows start at multiples of their length since 1970. */
const LONG = { 'quotaLimits.windowSeconds': String(31 * 86_400) };

const calling = processFile(
  'calling',
  `${node('startEvent', 'start')}
   ${node('callActivity', 'call', '<bpmn:multiInstanceLoopCharacteristics svc:collection="items"/>', 'calledElement="plain" svc:waits="false"')}
   ${userTask('a')}${node('endEvent', 'end')}${flows('start>call call>a a>end')}`,
);
/** A process that is started by a message, and one that sends the message. */
const MESSAGES = [
  processFile(
    'ordered',
    `${node('startEvent', 'start', '<bpmn:messageEventDefinition messageRef="M_order" svc:correlation=""/>')}
     ${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
    { outside: '<bpmn:message id="M_order" name="order"/>' },
  ),
  processFile(
    'send',
    `${node('startEvent', 'start')}
     ${serviceTask('s', [{ name: 'send', kind: 'sendMessage', message: 'order', inner: '<svc:payload>{}</svc:payload>' }])}
     ${node('endEvent', 'end')}${flows('start>s s>end')}`,
  ),
];
const BPMN = [taskProcess('plain', userTask('a'), userTask('b'), userTask('c')), calling];

const quotaOf = (setting: string, who = 'application') => ({
  error: 'Too Many Requests',
  message: `The quota of the ${who} is used up.`,
  status: 429,
  details: expect.stringMatching(
    new RegExp(
      `^${setting} is \\d+\\. Try again in \\d+ seconds, or ask the operator to raise the quota\\.$`,
    ),
  ),
});
const callerToken = (app: TestApp, sub: string) =>
  app.tokenWith({ sub, exp: Math.floor(Date.now() / 1_000) + 3_600 });

describe('quotas of starts', () => {
  const SETTINGS = { ...LONG, 'jobLimits.pollMs': '20', QUOTAS: 'app-starts=5,caller-starts=7' };
  let app: TestApp;
  let other: TestApp;
  beforeAll(async () => {
    app = await TestApp.start(SETTINGS);
    other = await TestApp.start(SETTINGS);
  });
  afterAll(async () => {
    await app.close();
    await other.close();
  });

  it('limit an application across replicas and callers', async () => {
    const published = await publish(app, { bpmn: BPMN });
    const calls = Array.from({ length: 20 }, (_, index) => index).map(async (index) => {
      const at = index % 2 === 0 ? app : other;
      return start(at, published, 'plain', {}, { token: await callerToken(at, `one-${index}`) });
    });
    const answers = await Promise.all(calls);
    const refused = answers.filter(({ status }) => status === 429);

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(refused).toHaveLength(15);
    for (const { body, headers } of refused) {
      expect(body).toEqual(quotaOf('app-starts'));
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await countInstances(app, published.appId)).toBe(5);
    expect((await start(app, await publish(app, { bpmn: BPMN }), 'plain', {})).status).toBe(200);
  });

  it('limit a caller across applications, and a rejected start does not count for the application', async () => {
    const [one, two] = [await publish(app, { bpmn: BPMN }), await publish(app, { bpmn: BPMN })];
    const token = await callerToken(app, 'greedy');
    const statuses: number[] = [];
    for (let index = 0; index < 8; index += 1) {
      statuses.push((await start(app, index < 4 ? one : two, 'plain', {}, { token })).status);
    }
    const { status, body } = await start(app, two, 'plain', {}, { token });

    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 429]);
    expect({ status, body }).toEqual({ status: 429, body: quotaOf('caller-starts', 'caller') });
    const modest = await callerToken(app, 'modest');
    expect((await start(app, two, 'plain', {}, { token: modest })).status).toBe(200);
    expect((await start(app, two, 'plain', {}, { token: modest })).status).toBe(200);
  });

  it('do not affect the replay of a stored answer', async () => {
    const published = await publish(app, { bpmn: BPMN });
    const token = await callerToken(app, 'repeating');
    const first = await start(app, published, 'plain', {}, { token, key: 'same' });
    for (let index = 0; index < 6; index += 1) {
      await start(app, published, 'plain', {}, { token });
    }
    expect((await start(app, published, 'plain', {}, { token })).status).toBe(429);
    const again = await start(app, published, 'plain', {}, { token, key: 'same' });
    expect({ status: again.status, text: again.text }).toEqual({ status: 200, text: first.text });
  });

  it('stop a call activity with an incident that names the setting', async () => {
    const published = await publish(app, { bpmn: BPMN });
    const token = await callerToken(app, 'calling');
    const { body } = await start(app, published, 'calling', { items: [1, 2, 3, 4, 5, 6] }, { token });
    const incidents = await eventually(
      () => incidentRows(app, body.instanceMetadata.processInstanceId),
      (rows) => rows.length === 2,
    );

    await eventually(
      () => countInstances(app, published.appId),
      (count) => count === 5,
    );
    for (const { type, message, job } of incidents) {
      expect({ type, kind: job?.kind }).toEqual({ type: 'SUBPROCESS', kind: 'CALL' });
      expect(message).toContain('app-starts');
    }
  });

  it('are in the metrics, without names of applications or callers', async () => {
    const text = await (await fetch(`${app.url}/metrics`)).text();
    expect(text).toContain('svc_quota_limit{kind="STARTS",scope="APP"} 5');
    expect(text).toContain('svc_quota_largest_share{kind="STARTS",scope="CALLER"} 1');
    expect(text).toMatch(/svc_quota_refusals_total\{kind="STARTS",scope="APP"\} [1-9]/);
  });
});

describe('quotas of process data and jobs', () => {
  let app: TestApp;
  let published: Published;
  let statements: string[] = [];
  beforeAll(async () => {
    app = await TestApp.start({
      ...LONG,
      JOBS_CONCURRENCY: '0',
      QUOTAS: 'app-starts=1000,app-data-bytes=5000,app-jobs=10',
      'quotaLimits.countSeconds': '1',
    });
    published = await publish(app, { bpmn: BPMN });
    app.dataSource.logger = {
      logQuery: (query: string) => void statements.push(query),
      logQueryError: () => undefined,
    } as unknown as Logger;
  });
  afterAll(() => app.close());
  const text = (bytes: number) => 'x'.repeat(bytes);

  it('need a database statement only for some starts', async () => {
    const { appId, buildId } = await publish(app, { bpmn: BPMN });
    await start(app, { appId, buildId }, 'plain', {});
    statements = [];
    for (let index = 0; index < 8; index += 1) {
      expect((await start(app, { appId, buildId }, 'plain', {})).status).toBe(200);
    }
    expect(statements.filter((sql) => sql.includes('quota_uses'))).toEqual([]);
  });

  it('count the data of starts, and the data that UI actions add', async () => {
    const { uuid, token } = await started(app, published, 'plain', { a: text(3_000) });
    expect(await start(app, published, 'plain', { a: text(3_000) })).toMatchObject({
      status: 429,
      body: quotaOf('app-data-bytes'),
    });
    expect((await start(app, published, 'plain', { a: 1 })).status).toBe(200);
    // How much data an action stores is known only afterwards, so it is counted then and may exceed the quota.
    expect((await execute(app, uuid, token.uuid, ui('a'), { b: text(3_000) })).status).toBe(200);
    const row = await eventually(
      () =>
        app.dataSource
          .getRepository(QuotaUseEntity)
          .createQueryBuilder('u')
          .where('u.id LIKE :id', { id: `DATA_BYTES:APP:${published.appId}:%` })
          .getOneOrFail(),
      ({ used }) => used > 6_000,
    );
    expect(row.used).toBeLessThan(6_200);
    await expect
      .poll(async () => (await start(app, published, 'plain', {})).status, { timeout: 20_000 })
      .toBe(429);
    const { status, body } = await execute(app, uuid, token.uuid, ui('b'), {});
    expect({ status, body }).toEqual({ status: 429, body: quotaOf('app-data-bytes') });
  });

  it('count open background jobs', async () => {
    const many = await publish(app, { bpmn: BPMN });
    const items = Array.from({ length: 10 }, (_, index) => index);
    expect((await start(app, many, 'plain', {})).status).toBe(200);
    expect((await start(app, many, 'calling', { items })).status).toBe(200);
    await expect
      .poll(async () => (await start(app, many, 'plain', {})).status, { timeout: 20_000 })
      .toBe(429);
    expect((await start(app, many, 'plain', {})).body).toEqual(quotaOf('app-jobs'));
    expect((await start(app, await publish(app, { bpmn: BPMN }), 'plain', {})).status).toBe(200);
  });
});

describe('quotas of language model tokens', () => {
  let app: TestApp;
  let model: ModelServer;
  let peer: ToolsPeer;
  let published: Published;
  beforeAll(async () => {
    model = await startModelServer();
    peer = await startToolsPeer({ look: { annotations: { readOnlyHint: true }, run: () => 'seen' } });
    app = await TestApp.start({
      ...LONG,
      JOBS_CONCURRENCY: '0',
      LLM_BASE_URL: model.url,
      LLM_MODEL: 'scripted',
      QUOTAS: 'app-model-tokens=1000,caller-model-tokens=2000',
    });
    published = await publishAgent(app, { servers: [peer.url] });
  });
  afterAll(async () => {
    await app.close();
    await Promise.all([model.close(), peer.close()]);
  });

  it('stop an agent before its next request, only for applications and callers that have reached them', async () => {
    model.reply = () => ({
      ...says({ verdict: 'ok' }),
      usage: { prompt_tokens: 590, completion_tokens: 10 },
    });
    const advise = (appId: string, caller: string | null = null) =>
      runWorkflow(app, published.buildId, 'advise', { payer: { appId, caller } });
    await advise('one');
    await advise('one');
    const before = model.questions.length;
    const failure = await failureOf(advise('one'));

    expect(failure).toMatchObject({
      code: 'AGENT_TOKEN_QUOTA',
      node: 'agent',
      message: expect.stringContaining('app-model-tokens is 1000'),
    });
    expect(model.questions).toHaveLength(before);
    for (const appId of ['two', 'three', 'four', 'five']) {
      await advise(appId, 'greedy');
    }
    expect(await failureOf(advise('six', 'greedy'))).toMatchObject({
      message: expect.stringContaining('caller-model-tokens is 2000'),
    });
    await advise('six', 'modest');
  });

  it('count every request of an agent', async () => {
    model.reply = () => ({
      ...callsTools(['tools__look', {}]),
      usage: { prompt_tokens: 400, completion_tokens: 1 },
    });
    const failure = await failureOf(
      runWorkflow(app, published.buildId, 'advise', { payer: { appId: 'turns', caller: null } }),
    );
    expect(failure).toMatchObject({ code: 'AGENT_TOKEN_QUOTA' });
  });
});

describe('starts by messages that a quota rejects', () => {
  it('are postponed without an incident or a counted failure', async () => {
    const patient = {
      ...LONG,
      'jobLimits.pollMs': '20',
      QUOTAS: 'app-starts=5',
      'jobLimits.maxAttempts': '1',
      'jobLimits.retryMaxMs': '100',
    };
    const limited = await TestApp.start(patient);
    const appId = uniqueName('waiting');
    const published = await publish(limited, { appId, bpmn: [...BPMN, ...MESSAGES], activate: true });
    for (const process of ['plain', 'plain', 'plain', 'plain', 'send']) {
      const { status } = await start(
        limited,
        published,
        process,
        {},
        { token: await callerToken(limited, 'one') },
      );
      expect(status).toBe(200);
    }
    await eventually(
      async () => (await fetch(`${limited.url}/metrics`)).text(),
      (text) => /svc_job_duration_seconds_count\{kind="MATCH_MESSAGE",outcome="put_off"\} [2-9]/.test(text),
    );
    const jobs = await limited.dataSource.getRepository(RuntimeJobEntity).findBy({ kind: 'MATCH_MESSAGE' });
    expect(jobs.map(({ failures }) => failures)).toEqual([0]);
    expect(await countInstances(limited, appId)).toBe(5);
    await limited.close();

    const free = await TestApp.start({ 'jobLimits.pollMs': '20' });
    await eventually(
      () => countInstances(free, appId),
      (count) => count === 6,
    );
    await free.close();
  });

  it('do not count their own postponed jobs against the quota of jobs', async () => {
    const patient = {
      ...LONG,
      'jobLimits.pollMs': '20',
      'jobLimits.retryMaxMs': '100',
      'quotaLimits.countSeconds': '1',
    };
    const full = await TestApp.start({ ...patient, QUOTAS: 'app-starts=2' });
    const appId = uniqueName('matching');
    const published = await publish(full, { appId, bpmn: MESSAGES, activate: true });
    for (let sent = 0; sent < 2; sent += 1) {
      expect((await start(full, published, 'send', {})).status).toBe(200);
    }
    await eventually(
      async () => (await fetch(`${full.url}/metrics`)).text(),
      (text) => /svc_job_duration_seconds_count\{kind="MATCH_MESSAGE",outcome="put_off"\} [2-9]/.test(text),
    );
    await full.close();

    const limited = await TestApp.start({ ...patient, QUOTAS: 'app-jobs=1' });
    await eventually(
      () => countInstances(limited, appId),
      (count) => count === 4,
    );
    await limited.close();
  });
});
