import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { execute, executed, start, started, uiActionPath } from '../../support/runtime/runtime-client.js';
import { eventRows, incidentRows, instanceRow, tokenRows } from '../../support/runtime/runtime-rows.js';

const KEYED = userTask('a', {
  actions: [
    { name: 'save', manual: true, optional: true, repeatable: true, keys: 'client.name, tags' },
    { name: 'done', manual: true },
  ],
  uiActions: {
    save: `<svc:body>{"client":{"name":"nobody","age":1}}</svc:body>
      <svc:bodySchema>{"type":"object","properties":{"tags":{"type":"array"}}}</svc:bodySchema>`,
  },
  uiAttributes: { save: 'excludeKeys="sent"' },
});
const BACK = taskProcess(
  'back',
  userTask('first', {
    actions: [
      { name: 'enter', manual: true, keys: '*', allowBack: true, removeKeys: 'later', restoreKeys: 'amount' },
    ],
  }),
  userTask('second', { actions: [{ name: 'decide', manual: true, keys: '*' }] }),
  userTask('third'),
);
const GATE = processFile(
  'gate',
  `${node('startEvent', 'start')}${userTask('a')}${node('exclusiveGateway', 'choice')}${userTask('b')}${node('endEvent', 'end')}
   ${flows('start>a a>choice choice>b[amount > 10] choice>end[amount <= 10] b>end')}`,
);
const LANED = processFile(
  'laned',
  `<bpmn:laneSet id="lanes">
     <bpmn:lane id="all"><bpmn:flowNodeRef>start</bpmn:flowNodeRef><bpmn:flowNodeRef>end</bpmn:flowNodeRef></bpmn:lane>
     <bpmn:lane id="clerk" svc:execute="loan-clerk"><bpmn:flowNodeRef>a</bpmn:flowNodeRef></bpmn:lane>
   </bpmn:laneSet>
   ${node('startEvent', 'start')}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
);
const PARALLEL = processFile(
  'parallel',
  `${node('startEvent', 'start')}${node('parallelGateway', 'split')}${userTask('l')}${userTask('r')}
   ${node('parallelGateway', 'join')}${userTask('after')}${node('endEvent', 'end')}
   ${flows('start>split split>l split>r l>join r>join join>after after>end')}`,
);

describe('POST /onboarding/api/runtime/process/{processUuid}/token/{tokenUuid}/ui-action/{uiActionSvcUuid}/context/main/execute', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.start({
      PERMISSION_RULES: JSON.stringify({
        'application-delivery': [{ claim: 'scope', has: 'application:deliver' }],
        'loan-clerk': [{ claim: 'scope', has: 'loan:clerk' }],
      }),
    });
    published = await publish(app, {
      bpmn: [
        taskProcess('plain', userTask('a'), userTask('b')),
        taskProcess('keyed', KEYED, userTask('b')),
        BACK,
        GATE,
        LANED,
        PARALLEL,
      ],
    });
  });
  afterAll(() => app.close());

  it('executes the action and returns the current node of the token', async () => {
    const { uuid: process, token } = await started(app, published, 'plain');
    const first = await execute(app, process, token.uuid, ui('a'), { amount: 5 });

    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      tokenUuid: token.uuid,
      currentNodeId: expect.any(Number),
      templatesSequence: null,
      backAction: false,
      resetToken: false,
    });
    expect(first.body.currentNodeId).not.toBe(token.currentNodeId);
    expect((await instanceRow(app, process)).content.data).toEqual({ amount: 5 });

    await executed(app, process, token.uuid, ui('b'));
    expect(await instanceRow(app, process)).toMatchObject({ state: 'FINISHED', endedAt: expect.any(Date) });
  });

  it('accepts a request without a body', async () => {
    const { uuid: process, token } = await started(app, published, 'plain', { kept: 1 });

    expect((await execute(app, process, token.uuid, ui('a'))).status).toBe(200);
    expect((await instanceRow(app, process)).content.data).toEqual({ kept: 1 });
  });

  it('stores only data that the keys allow; the body of the request overrides that of the action', async () => {
    const { uuid: process, token } = await started(app, published, 'keyed', { client: { age: 30 } });
    await executed(app, process, token.uuid, ui('a', 'save'), {
      client: { name: 'Jane' },
      sent: 'with the form',
      tags: [1],
    });

    const { content } = await instanceRow(app, process);
    expect(content.data).toEqual({ client: { name: 'Jane', age: 30 }, tags: [1] });
    await executed(app, process, token.uuid, ui('a', 'save'), { tags: [2] });
    expect((await instanceRow(app, process)).content.data).toEqual({
      client: { name: 'nobody', age: 30 },
      tags: [2],
    });
  });

  it('writes an audit trail without gaps', async () => {
    const { uuid: process, token, instanceMetadata } = await started(app, published, 'plain');
    await executed(app, process, token.uuid, ui('a'));
    const events = await eventRows(app, instanceMetadata.processInstanceId);

    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.map(({ kind }) => kind)).toContain('ACTION_EXECUTED');
  });

  it('goes back to an earlier node with a new token, and removes and restores data as defined', async () => {
    const { uuid: process, token, instanceMetadata } = await started(app, published, 'back', { amount: 1 });
    await executed(app, process, token.uuid, ui('first', 'enter'), { amount: 2, kept: true });
    await executed(app, process, token.uuid, ui('second', 'decide'), { amount: 3, later: 'x' });
    const back = await executed(app, process, token.uuid, ui('first', 'enter'), {});

    expect(back).toEqual({
      tokenUuid: expect.not.stringMatching(token.uuid),
      currentNodeId: token.currentNodeId,
      templatesSequence: null,
      backAction: true,
      resetToken: true,
    });
    expect((await instanceRow(app, process)).content.data).toEqual({ amount: 1, kept: true });
    const tokens = await tokenRows(app, instanceMetadata.processInstanceId);
    expect(tokens.map(({ uuid, state }) => [uuid, state])).toEqual([
      [token.uuid, 'ABORTED'],
      [back.tokenUuid, 'ACTIVE'],
    ]);
    const old = await execute(app, process, token.uuid, ui('first', 'enter'), {});
    expect({ status: old.status, message: old.body.message }).toEqual({
      status: 409,
      message: 'The token is not active.',
    });
    await executed(app, process, back.tokenUuid, ui('first', 'enter'), { amount: 9 });
  });

  it('joins two branches that arrive concurrently', async () => {
    const { uuid: process, tokens, instanceMetadata } = await started(app, published, 'parallel');
    const branch = (name: string) =>
      tokens.find(({ currentNodeName }) => currentNodeName === name)?.uuid ?? '';
    expect(tokens.map(({ state }) => state)).toEqual(['ON_HOLD', 'ACTIVE', 'ACTIVE']);
    await Promise.all([
      executed(app, process, branch('l'), ui('l')),
      executed(app, process, branch('r'), ui('r')),
    ]);
    const rows = await tokenRows(app, instanceMetadata.processInstanceId);

    expect(rows.map(({ state }) => state)).toEqual(['ACTIVE', 'INACTIVE', 'INACTIVE']);
    expect((await executed(app, process, tokens[0]?.uuid ?? '', ui('after'))).tokenUuid).toBe(
      tokens[0]?.uuid,
    );
    expect(await instanceRow(app, process)).toMatchObject({ state: 'FINISHED' });
  });

  describe('rejects', () => {
    it('unknown and foreign ids with 404, before an invalid body', async () => {
      const { uuid: process, token } = await started(app, published, 'plain');
      const other = await started(app, published, 'plain');
      const cases: [string, string, string, string][] = [
        [uuid(), token.uuid, ui('a'), 'Process instance not found.'],
        ['no-such-process', token.uuid, ui('a'), 'Process instance not found.'],
        [process, uuid(), ui('a'), 'Token not found for this process instance.'],
        [process, other.token.uuid, ui('a'), 'Token not found for this process instance.'],
        [process, token.uuid, uuid(), 'UI action not found for this process.'],
        [process, token.uuid, ui('c'), 'UI action not found for this process.'],
      ];
      for (const [processUuid, tokenUuid, action, message] of cases) {
        for (const options of [{}, { rawBody: '{"' }]) {
          const { status, body } = await execute(app, processUuid, tokenUuid, action, undefined, options);
          expect({ status, message: body.message }).toEqual({ status: 404, message });
        }
      }
    });

    it('another context with 404', async () => {
      const { uuid: process, token } = await started(app, published, 'plain');
      const path = uiActionPath(process, token.uuid, ui('a')).replace('/main/', '/other/');

      expect((await app.request('POST', path, { body: {} })).status).toBe(404);
    });

    it('a malformed id with 400', async () => {
      expect((await app.request('POST', uiActionPath('a%20b', 'x', 'y'), { body: {} })).status).toBe(400);
    });

    it.each(['[]', '7', '{"a":', '{"__proto__":{"x":1}}', '{"constructor":1}'])(
      'the body %s with 400',
      async (rawBody) => {
        const { uuid: process, token } = await started(app, published, 'plain');

        expect((await execute(app, process, token.uuid, ui('a'), undefined, { rawBody })).status).toBe(400);
        expect((await instanceRow(app, process)).rev).toBe(1);
      },
    );

    it('a body that violates the schema with 400 and the field name, before 409', async () => {
      const { uuid: process, token } = await started(app, published, 'keyed');
      const sendInvalid = () => execute(app, process, token.uuid, ui('a', 'save'), { tags: 7 });
      const first = await sendInvalid();
      await executed(app, process, token.uuid, ui('a', 'done'));
      await executed(app, process, token.uuid, ui('b'));

      expect({ status: first.status, details: first.body['details'] }).toEqual({
        status: 400,
        details: 'tags: must be of type array',
      });
      expect((await sendInvalid()).status).toBe(400);
    });

    it('input that no key accepts with 400 and a suggestion, and stores nothing', async () => {
      const { uuid: process, token } = await started(app, published, 'keyed');
      const before = await instanceRow(app, process);
      const send = (action: string, body: unknown, options = {}) =>
        execute(app, process, token.uuid, ui('a', action), body, options);
      const typo = await send('save', { client: { name: 'J', nmae: 'J' }, tagz: [], sent: 1 }, { key: 'k' });
      const nothing = await send('done', { amount: 1 });

      expect([typo, nothing].map(({ status, body }) => ({ status, message: body.message }))).toEqual(
        Array.from({ length: 2 }, () => ({ status: 400, message: 'Request validation failed.' })),
      );
      const rule = 'matches no key of the action; remove it, or add it to keys or excludeKeys of the action.';
      expect(typo.body['details']).toBe(
        `client.nmae: ${rule} Did you mean "client.name"?; tagz: ${rule} Did you mean "tags"?`,
      );
      expect(nothing.body['details']).toBe('amount: the action accepts no input; remove it');
      expect(await instanceRow(app, process)).toEqual(before);
      expect((await send('done', {})).status).toBe(200);
    });

    it('an action of another node, of an ended token and of an ended instance with 409', async () => {
      const { uuid: process, token } = await started(app, published, 'plain');
      const early = await execute(app, process, token.uuid, ui('b'));
      await executed(app, process, token.uuid, ui('a'), { n: 1 });
      const late = await execute(app, process, token.uuid, ui('a'), { n: 1 });
      await executed(app, process, token.uuid, ui('b'));
      const ended = await execute(app, process, token.uuid, ui('b'));

      expect([early, late, ended].map(({ status, body }) => [status, body.message])).toEqual([
        [409, 'The UI action is not available where the token stands.'],
        [409, 'The UI action is not available where the token stands.'],
        [409, 'The token is not active.'],
      ]);
    });

    it('a caller without a token with 401', async () => {
      expect((await execute(app, uuid(), uuid(), uuid(), {}, { token: null })).status).toBe(401);
    });

    it('a caller without the permission for the lane with 403, and changes nothing', async () => {
      const { uuid: process, token } = await started(app, published, 'laned');
      const clerk = await app.tokenWith({ scope: 'loan:clerk', sub: 'clerk' });
      const before = await instanceRow(app, process);
      const refused = await execute(app, process, token.uuid, ui('a'), { n: 1 });

      expect({ status: refused.status, message: refused.body.message }).toEqual({
        status: 403,
        message: 'Insufficient permissions to act in this lane of the process',
      });
      expect(await instanceRow(app, process)).toEqual(before);
      expect((await execute(app, process, token.uuid, ui('a'), {}, { token: clerk })).status).toBe(200);
    });
  });

  describe('when the process stops after the action', () => {
    it('answers 409, keeps the token at its node, and records one incident until the process continues', async () => {
      const {
        uuid: process,
        token,
        instanceMetadata,
      } = await started(app, published, 'gate', { amount: 'many' });
      const id = instanceMetadata.processInstanceId;
      const failed = await execute(app, process, token.uuid, ui('a'));
      const again = await execute(app, process, token.uuid, ui('a'));

      const [incident] = await incidentRows(app, id);
      expect(failed.status).toBe(409);
      expect(failed.body.incident).toEqual({
        uuid: incident?.uuid,
        processInstanceUuid: process,
        code: 'GATEWAY_EVALUATION',
        bpmnElementId: 'choice',
        message: incident?.message,
      });
      expect(failed.body['details']).toContain(String(incident?.uuid));
      expect(await tokenRows(app, id)).toMatchObject([
        { uuid: token.uuid, state: 'ACTIVE', visit: expect.any(Number) },
      ]);
      expect(await incidentRows(app, id)).toMatchObject([
        { state: 'OPEN', requestId: again.headers.get('x-request-id'), tokenId: token.id },
      ]);

      await executed(app, process, token.uuid, ui('a'), { amount: 11 });
      expect(await incidentRows(app, id)).toMatchObject([{ state: 'RESOLVED', closedAt: expect.any(Date) }]);
      expect(await instanceRow(app, process)).toMatchObject({ openIncidents: 0 });
      const events = await eventRows(app, id);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      expect(events.map(({ kind }) => kind)).toEqual(
        expect.arrayContaining(['INCIDENT_RAISED', 'INCIDENT_CLOSED']),
      );
    });
  });

  describe('with an Idempotency-Key', () => {
    it('executes once for ten equal concurrent requests, and all get the same answer', async () => {
      const { uuid: process, token } = await started(app, published, 'plain');
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => execute(app, process, token.uuid, ui('a'), { n: 1 }, { key: 'k' })),
      );

      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers[0]?.status).toBe(200);
      expect((await instanceRow(app, process)).rev).toBe(2);
    });

    it('replays an identical answer, even after the token has ended', async () => {
      const { uuid: process, token } = await started(app, published, 'plain');
      const first = await execute(app, process, token.uuid, ui('a'), { n: 1 }, { key: 'k' });
      await executed(app, process, token.uuid, ui('b'));
      const again = await execute(app, process, token.uuid, ui('a'), { n: 1 }, { key: 'k' });

      expect(again).toMatchObject({ status: 200, text: first.text });
      expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    });

    it('answers 409 for another body', async () => {
      const { uuid: process, token } = await started(app, published, 'plain');
      await execute(app, process, token.uuid, ui('a'), { n: 1 }, { key: 'k' });
      const { status, body } = await execute(app, process, token.uuid, ui('a'), { n: 2 }, { key: 'k' });

      expect({ status, message: body.message }).toEqual({
        status: 409,
        message: 'The Idempotency-Key was used for a request with another body.',
      });
    });

    it('accepts the same key again after a rejected request', async () => {
      const { uuid: process, token } = await started(app, published, 'plain');
      await execute(app, process, token.uuid, ui('b'), {}, { key: 'k' });
      await executed(app, process, token.uuid, ui('a'));

      expect((await execute(app, process, token.uuid, ui('b'), {}, { key: 'k' })).status).toBe(200);
    });
  });
});

describe('a deployment that requires a permission to execute UI actions', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ PROCESS_UI_ACTION_PERMISSION: 'process-administration' });
  });
  afterAll(() => app.close());

  it('answers 403 without it, before 404', async () => {
    const token = await app.tokenWith({ scope: 'openid' });

    expect((await execute(app, uuid(), uuid(), uuid(), {}, { token })).status).toBe(403);
    expect((await execute(app, uuid(), uuid(), uuid(), {})).status).toBe(404);
    const published = await publish(app, { bpmn: taskProcess('plain', userTask('a')) });
    expect((await start(app, published, 'plain', {}, { token })).status).toBe(200);
  });
});
