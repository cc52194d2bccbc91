import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Log } from '../../../src/platform/observability/logging/log.js';
import { AuditEventEntity } from '../../../src/audit/storage/audit-event.entity.js';
import { ProcessEventEntity } from '../../../src/runtime/storage/process-event.entity.js';
import { ProcessInstanceEntity } from '../../../src/runtime/storage/process-instance.entity.js';
import { ProcessRepeatEntity } from '../../../src/idempotency/storage/process-repeat.entity.js';
import { TestApp } from '../../support/app.js';
import { Follower } from '../../support/runtime/follower.js';
import { flows, node, processFile, serviceTask, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published, mapping, workflowOf } from '../../support/runtime/publish.js';
import { eventually, execute, instancePath, start } from '../../support/runtime/runtime-client.js';

/** Input of a person that occurs nowhere else. */
const CANARY = 'canary of a person';
const RUNS = '/rtm/api/runtime/workflow-run';

/** Has a user task, runs a workflow, sends a message, calls a process, and has another user task. */
const process = processFile(
  'process',
  `${node('startEvent', 'start')}${userTask('a')}
   ${serviceTask('s', [{ name: 'look', kind: 'startWorkflow', workflow: 'look' }])}
   ${serviceTask('t', [{ name: 'send', kind: 'sendMessage', message: 'notified', correlation: 'order', inner: '<svc:payload>{"client":"${client}"}</svc:payload>' }])}
   ${node('callActivity', 'call', '', 'calledElement="called" svc:outputKey="answer"')}
   ${userTask('b')}${node('endEvent', 'end')}${flows('start>a a>s s>t t>call call>b b>end')}`,
  { outside: '<bpmn:message id="M_notified" name="notified"/>' },
);
const called = processFile(
  'called',
  `${node('startEvent', 'start')}${node('endEvent', 'end')}${flows('start>end')}`,
);
/** Stops with an incident because of a value. */
const stops = processFile(
  'stops',
  `${node('startEvent', 'start')}${node('exclusiveGateway', 'which')}${node('endEvent', 'end')}${node('endEvent', 'other')}
   ${flows('start>which which>end[client.name > 3] which>other[client.name < 3]')}`,
);

describe('personal data', () => {
  let app: TestApp;
  let published: Published;
  const lines: string[] = [];

  beforeAll(async () => {
    app = await TestApp.shared({ 'jobLimits.pollMs': '20', 'processLimits.progressPollMs': '50' });
    const log = app.nest.get(Log);
    Object.assign(Reflect.get(log, 'logger') as object, { level: 'trace' });
    const destination = Reflect.get(log, 'destination') as { write(text: string): boolean };
    vi.spyOn(destination, 'write').mockImplementation((text) => lines.push(text) > 0);
    published = await publish(app, {
      bpmn: [process, called, stops],
      package: { workflows: [workflowOf('look', [mapping('copy', '${client}')])] },
    });
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await app.close();
  });

  it('is in the data of the instance, but not in its history, the log, the metrics, the audit log or stored answers', async () => {
    const client = { name: CANARY };
    const options = { key: 'once' };
    const { body } = await start(app, published, 'process', { order: 'order-7' }, options);
    const entered = [body.uuid, body.tokens[0]?.uuid ?? '', ui('a')] as const;
    expect((await execute(app, ...entered, { client }, options)).status).toBe(200);
    const { tokens } = await eventually(
      async () => (await app.request<typeof body>('GET', instancePath(body.uuid))).body,
      (instance) => instance.tokens[0]?.currentNodeName === 'b',
    );
    // Refusals and incidents must not reveal it either.
    expect(
      (await execute(app, body.uuid, tokens[0]?.uuid ?? '', ui('b'), { client, [CANARY]: 1 })).status,
    ).toBe(200);
    expect((await start(app, published, 'stops', { client }, options)).status).toBe(409);
    expect(
      (await start(app, published, 'process', client, { headers: { 'svc-platform': CANARY } })).status,
    ).toBe(400);

    const found = (rows: unknown): boolean => JSON.stringify(rows).includes(CANARY);
    const table = (entity: Parameters<typeof app.dataSource.getRepository>[0]): Promise<unknown> =>
      app.dataSource.getRepository(entity).find();
    expect(found(await table(ProcessInstanceEntity))).toBe(true);
    const history = await app.request('GET', `${instancePath(body.uuid)}/history?limit=200`);
    expect(history.text).toContain('order-7');
    for (const entity of [ProcessEventEntity, ProcessRepeatEntity, AuditEventEntity]) {
      expect(found(await table(entity)), entity.name).toBe(false);
    }
    expect((await fetch(`${app.url}/metrics`).then((answer) => answer.text())).includes(CANARY)).toBe(false);
    expect(lines.join('')).toContain('/execute');
    expect(found(lines)).toBe(false);
  });

  it('is read without an audit event, and the request log names the caller by a fingerprint', async () => {
    const { body } = await start(app, published, 'process', {});
    const count = (): Promise<number> => app.dataSource.getRepository(AuditEventEntity).count();
    const before = await count();
    const reader = await app.tokenWith({ sub: 'a reader', scope: 'process:read' });
    lines.length = 0;
    for (const path of [body.uuid, `${body.uuid}/history`, `${body.uuid}/diagram`, '']) {
      const { status } = await app.request('GET', instancePath(path).replace(/\/$/, ''), { token: reader });
      expect(status).toBe(200);
    }
    expect((await app.request('GET', RUNS, { token: reader })).status).toBe(200);
    const follower = await Follower.open(app, body.uuid, reader);
    expect(follower.status).toBe(200);
    follower.close();
    expect(await count()).toBe(before);
    await expect.poll(() => lines.filter((line) => line.includes('"msg":"request"')).length).toBe(6);
    const callers = lines.flatMap((line) => /"caller":"([0-9a-f]{16})"/.exec(line)?.[1] ?? []);
    expect(callers).toHaveLength(6);
    expect(new Set(callers).size).toBe(1);
    expect(lines.join('')).not.toContain('a reader');
  });
});
