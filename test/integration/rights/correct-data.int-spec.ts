import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateSecrets } from '../../../src/platform/secrets/sealed-columns.js';
import { SecretCipher, sealedKeyId } from '../../../src/platform/secrets/secret-cipher.js';
import { AuditOutcome } from '../../../src/audit/model/audit.types.js';
import { ProcessCorrectionEntity } from '../../../src/runtime/storage/process-event.entity.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { uniqueName } from '../../support/factories.js';
import { flows, node, processFile, serviceTask, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published, sequence, workflowOf } from '../../support/runtime/publish.js';
import { eventually, instancePath, started, type StartBody } from '../../support/runtime/runtime-client.js';
import { incidentRows, instanceRow } from '../../support/runtime/runtime-rows.js';
import { auditRows } from '../systems/rows.js';

const OLD = { id: 'test', key: Buffer.alloc(32, 7) };
const NEW = { id: 'next', key: Buffer.alloc(32, 9) };
const INPUT =
  '{"type":"object","required":["amount"],"additionalProperties":false,"properties":{"amount":{},"client":{"type":"string"}}}';
const DECISION = '{"type":"object","properties":{"decision":{"enum":["approved","rejected"]}}}';
/** Its workflow fails unless `amount` is a number above 1. A manager decides afterwards. */
const deciding = processFile(
  'deciding',
  `<bpmn:extensionElements><svc:inputSchema>${INPUT}</svc:inputSchema></bpmn:extensionElements>
   <bpmn:laneSet id="lanes"><bpmn:lane id="L" name="L" svc:execute="manager"><bpmn:flowNodeRef>decide</bpmn:flowNodeRef></bpmn:lane></bpmn:laneSet>
   ${node('startEvent', 'start')}${serviceTask('score', [{ name: 'run', kind: 'startWorkflow', workflow: 'picking' }])}
   ${userTask('decide', {
     actions: [{ name: 'done', manual: true, keys: 'decision, note.text' }],
     uiActions: { done: `<svc:bodySchema>${DECISION}</svc:bodySchema>` },
   })}
   ${node('endEvent', 'end')}${flows('start>score score>decide decide>end')}`,
);
const picking = workflowOf('picking', [
  {
    id: 'pick',
    type: 'CONDITION',
    conditions: [{ id: 'c', expression: 'amount > 1', nextNodeId: 'end', order: 1, isDefault: false }],
    outgoingSequences: [sequence('pick', 'end')],
  },
]);
const ROLES = ['process-administration', 'process-data', 'process-read'] as const;
const RULES = {
  ...Object.fromEntries(
    ROLES.map((name) => [
      name,
      [
        { claim: 'sub', has: 'user-1' },
        { claim: 'roles', hasAt: name },
        { claim: 'roles', has: name },
      ],
    ]),
  ),
  'application-delivery': [{ claim: 'sub', has: 'user-1' }],
};

type Stopped = StartBody & { token: { uuid: string } };
interface HistoryBody {
  events: { kind: string; actor: string; data: Record<string, unknown> }[];
}

describe('a retry with data', () => {
  let app: TestApp;
  let published: Published;
  beforeAll(async () => {
    app = await TestApp.start({
      PERMISSION_RULES: JSON.stringify(RULES),
      'jobLimits.pollMs': '20',
      'jobLimits.retryBaseMs': '20',
    });
    published = await publish(app, { bpmn: deciding, package: { workflows: [picking] } });
  });
  afterAll(() => app.close());

  const stopped = async (data: Record<string, unknown> = {}): Promise<Stopped> => {
    const instance = await started(app, published, 'deciding', { amount: 'many', ...data });
    await eventually(
      () => incidentRows(app, instance.instanceMetadata.processInstanceId),
      (rows) => rows.some(({ state }) => state === 'OPEN'),
    );
    return instance;
  };
  const retry = ({ uuid, token }: Stopped, data: unknown, bearer?: string): Promise<TestResponse> =>
    app.request('POST', `${instancePath(uuid)}/token/${token.uuid}/retry`, {
      body: data === undefined ? {} : { data },
      ...(bearer === undefined ? {} : { token: bearer }),
    });
  const bearer = (...roles: string[]): Promise<string> =>
    app.tokenWith({ scope: 'openid', sub: uniqueName('caller'), roles });
  const dataOf = async ({ uuid }: Stopped): Promise<unknown> => (await instanceRow(app, uuid)).content.data;

  it('requires its own permission and the right to read the instance, and refusals are in the audit log', async () => {
    const instance = await stopped();
    const at = (name: string): string => `${name}@${published.appId}`;
    const refusals: [string[], string, number][] = [
      [['process-administration', 'process-read'], 'correct process data', 403],
      [['process-administration', 'process-data'], 'read process data', 403],
      [[at('process-administration'), 'process-data@other', at('process-read')], 'correct process data', 403],
      [[at('process-administration'), at('process-data'), 'process-read@other'], 'read process data', 403],
      [['process-data', 'process-read'], 'administer processes', 403],
      [['process-administration@other', 'process-data', 'process-read'], 'not found', 404],
    ];
    const codes: number[] = [];
    for (const [roles, text, status] of refusals) {
      const refused = await retry(instance, { amount: 7 }, await bearer(...roles));
      expect(refused.body, roles.join()).toMatchObject({
        status,
        message: expect.stringContaining(text) as string,
      });
      codes.push(refused.status);
    }
    expect(await dataOf(instance)).toEqual({ amount: 'many' });
    const denied = await eventually(
      async () => (await auditRows(app, published)).filter(({ outcome }) => outcome === AuditOutcome.Denied),
      (rows) => rows.length === refusals.length,
    );
    // Events are stored concurrently with the responses, so their order may differ.
    expect(denied.map(({ details }) => String(details?.['permission'])).toSorted()).toEqual([
      'process-administration',
      'process-administration',
      'process-data',
      'process-data',
      'process-read',
      'process-read',
    ]);
    expect((await retry(instance, undefined, await bearer('process-administration'))).status).toBe(200);
  });

  it('is allowed with all permissions, or without the right to read for the caller who started the instance', async () => {
    expect((await retry(await stopped(), { amount: 7 }, await bearer(...ROLES))).status).toBe(200);
    const roles = ['process-administration', 'process-data'];
    const starter = await app.tokenWith({ scope: 'openid', sub: 'user-1', roles });
    expect((await retry(await stopped(), { amount: 7 }, starter)).status).toBe(200);
  });

  it.each([
    [{ client: 5 }, 'client: must be of type string'],
    [{ amount: null }, 'amount: is required'],
    [{ amount: 7, decision: 'perhaps' }, 'decision: must be one of'],
  ])('is validated against the schemas of the process: %j', async (patch, rule) => {
    const instance = await stopped();
    const refused = await retry(instance, patch);
    expect(refused).toMatchObject({
      status: 400,
      body: { details: expect.stringContaining(rule) as string },
    });
    expect(await dataOf(instance)).toEqual({ amount: 'many' });
  });

  it('may add members that steps store, and corrects invalid data', async () => {
    const instance = await stopped();
    const patch = { amount: 7, decision: 'approved', note: { text: 'x' }, other: 1 };
    expect((await retry(instance, patch)).status).toBe(200);
    expect(await dataOf(instance)).toEqual(patch);
  });

  it('is shown with the user and the values before and after', async () => {
    const instance = await stopped({ client: 'Ada' });
    expect((await retry(instance, { amount: 7, client: null, decision: 'approved' })).status).toBe(200);
    const path = instancePath(instance.uuid);
    const values = {
      members: ['amount', 'client', 'decision'],
      before: { amount: 'many', client: 'Ada' },
      after: { amount: 7, decision: 'approved' },
    };
    const ofHistory = async (query = ''): Promise<unknown> => {
      const { body } = await app.request<HistoryBody>('GET', `${path}/history${query}`);
      return body.events.filter(({ kind }) => kind === 'DATA_CHANGED');
    };
    const event = { actor: 'jane.doe', data: values };
    expect(await ofHistory()).toMatchObject([event]);
    expect(await ofHistory('?after=0')).toMatchObject([event]);
    const { body } = await app.request<{ history: { kind: string }[]; corrections: unknown }>('GET', path);
    expect(body.history.filter(({ kind }) => kind === 'DATA_CHANGED')).toMatchObject([event]);
    expect(body.corrections).toEqual([
      { members: values.members, by: 'jane.doe', at: expect.any(String) as string },
    ]);
  });

  it('is stored encrypted, in parts, and re-encrypted by a key rotation', async () => {
    const long = 'é'.repeat(30_000);
    const instance = await stopped({ client: long });
    expect((await retry(instance, { amount: 7, client: 'Grace' })).status).toBe(200);
    const repository = app.dataSource.getRepository(ProcessCorrectionEntity);
    const rows = (await repository.find()).filter(({ id }) => id.startsWith(instance.uuid));
    expect(rows).toHaveLength(5);
    expect(JSON.stringify(rows)).not.toMatch(/"Grace|"many/);
    const shown = async (): Promise<string> =>
      (await app.request('GET', `${instancePath(instance.uuid)}/history`)).text;
    expect(await shown()).toContain(`"before":{"amount":"many","client":"${long}"},"after":{"amount":7`);

    const [first, second] = rows;
    await repository.update({ id: first?.id ?? '' }, { sealed: second?.sealed ?? '' });
    expect(await shown()).toContain('"omitted":true');
    await repository.update({ id: first?.id ?? '' }, { sealed: first?.sealed ?? '' });

    const rotated = await rotateSecrets(app.dataSource.manager, new SecretCipher([NEW, OLD]));
    expect(rotated).toMatchObject({ unreadable: [] });
    const resealed = await repository.findOneByOrFail({ id: first?.id ?? '' });
    expect(sealedKeyId(resealed.sealed)).toBe(NEW.id);
    await rotateSecrets(app.dataSource.manager, new SecretCipher([OLD, NEW]));
    expect(await shown()).toContain(`"before":{"amount":"many"`);
  });

  it('is rejected if it changes more data than can be stored', async () => {
    const instance = await stopped({ client: 'é'.repeat(90_000) });
    const refused = await retry(instance, { amount: 7, client: 'à'.repeat(90_000) });
    expect(refused).toMatchObject({
      status: 400,
      body: { details: expect.stringContaining('correct fewer members') as string },
    });
  });
});
