import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InstanceResponseDto } from '../../../src/runtime/reading/instance.response.dto.js';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { execute, executed, instancePath, start, started } from '../../support/runtime/runtime-client.js';

const BACK = { actions: [{ name: 'done', manual: true, keys: '*', allowBack: true }] };
const stopsAtOnce = processFile(
  'stops',
  `${node('startEvent', 'start')}${node('exclusiveGateway', 'choice')}${node('endEvent', 'yes')}${node('endEvent', 'no')}
   ${flows('start>choice choice>yes[amount > 1] choice>no[amount <= 1]')}`,
);
const choosesLater = processFile(
  'later',
  `${node('startEvent', 'start')}${userTask('a')}${node('exclusiveGateway', 'choice')}${node('endEvent', 'yes')}${node('endEvent', 'no')}
   ${flows('start>a a>choice choice>yes[amount > 1] choice>no[amount <= 1]')}`,
);
const laned = processFile(
  'laned',
  `<bpmn:laneSet id="lanes"><bpmn:lane id="clerk" name="Clerk" svc:execute="loan-clerk">
     <bpmn:flowNodeRef>a</bpmn:flowNodeRef></bpmn:lane>
   <bpmn:lane id="client" name="Client">
     <bpmn:flowNodeRef>start</bpmn:flowNodeRef><bpmn:flowNodeRef>end</bpmn:flowNodeRef>
   </bpmn:lane></bpmn:laneSet>
   ${node('startEvent', 'start')}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
);
const forked = processFile(
  'forked',
  `${node('startEvent', 'start')}${node('parallelGateway', 'fork')}${userTask('a')}${userTask('b')}
   ${node('parallelGateway', 'join')}${node('endEvent', 'end')}
   ${flows('start>fork fork>a fork>b a>join b>join join>end')}`,
);
const RULES = {
  'integration-management': [{ claim: 'scope', has: 'integration:manage' }],
  'application-delivery': [{ claim: 'scope', has: 'application:deliver' }],
  'process-read': [{ claim: 'scope', has: 'process:read' }],
  'loan-clerk': [{ claim: 'scope', has: 'loan:clerk' }],
};

describe('GET /rtm/api/runtime/process-instance/{uuid}', () => {
  let app: TestApp;
  let published: Published;
  const get = (id: string, token?: string | null) =>
    app.request<InstanceResponseDto & { message: string }>(
      'GET',
      instancePath(id),
      token === undefined ? {} : { token },
    );

  beforeAll(async () => {
    app = await TestApp.start({ PERMISSION_RULES: JSON.stringify(RULES), 'pageLimits.size': '10' });
    published = await publish(app, {
      bpmn: [
        taskProcess('plain', userTask('a', BACK), userTask('b')),
        stopsAtOnce,
        choosesLater,
        laned,
        forked,
      ],
    });
  });
  afterAll(() => app.close());

  it('returns the position of an instance and its executable UI actions', async () => {
    const instance = await started(app, published, 'plain', { amount: 7 });
    const { status, body } = await get(instance.uuid);

    expect(status).toBe(200);
    expect(body).toMatchObject({
      uuid: instance.uuid,
      state: 'STARTED',
      processDefinitionName: 'plain',
      buildId: published.buildId,
      buildStatusAtStart: 'COMMITTED',
      applicationId: published.appId,
      rootApplicationId: published.appId,
      parentProcessInstanceUuid: null,
      platform: 'web',
      startedBy: { userName: 'jane.doe' },
      endedAt: null,
      openIncidents: 0,
      data: { amount: 7 },
      incidents: [],
      children: [],
      historyNext: null,
    });
    expect(body.tokens).toEqual([
      {
        ...instance.token,
        bpmnElementId: 'a',
        parentTokenUuid: null,
        lane: null,
        uiActions: [{ svcUuid: ui('a'), name: 'done', back: false, bodySchema: null }],
      },
    ]);
    const { history = [] } = body;
    expect(history.map(({ seq }) => seq)).toEqual(history.map((_, index) => history.length - index));
    expect(history).toContainEqual(
      expect.objectContaining({
        kind: 'NODE_ENTERED',
        tokenUuid: instance.token.uuid,
        nodeId: instance.token.currentNodeId,
        bpmnElementId: 'a',
        actor: 'jane.doe',
      }),
    );
  });

  it('returns only the lists that include names', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    const whole = (await get(id)).body;
    const { children, history, historyNext, ...rest } = whole;
    const asked = async (include: string): Promise<unknown> =>
      (await app.request('GET', `${instancePath(id)}?include=${include}`)).body;
    expect(await asked('')).toEqual(rest);
    expect(await asked('children')).toEqual({ ...rest, children });
    expect(await asked('history')).toEqual({ ...rest, history, historyNext });
    expect(await asked('history,children')).toEqual(whole);
    for (const include of ['tokens', 'history,', 'history children', ',']) {
      const { status, body } = await app.request('GET', `${instancePath(id)}?include=${include}`);
      expect([status, body['details']]).toEqual([
        400,
        'include: must be empty or a comma-separated list of: children, history',
      ]);
    }
  });

  it('returns the right instance to each of several concurrent requests', async () => {
    const instances = await Promise.all(Array.from({ length: 12 }, () => started(app, published, 'plain')));
    const asked = [...instances, ...instances].map(({ uuid }) => uuid);

    const answers = await Promise.all(asked.map((id) => get(id)));

    expect(answers.map(({ body }) => body.uuid)).toEqual(asked);
    expect(answers.map(({ body }) => body.tokens.length)).toEqual(asked.map(() => 1));
  });

  it('shows the back action, and the token that it aborted', async () => {
    const { uuid: id, token } = await started(app, published, 'plain', {});
    await executed(app, id, token.uuid, ui('a'), { one: 1 });
    const onB = await get(id);
    expect(onB.body.tokens[0]?.uiActions).toEqual([
      { svcUuid: ui('b'), name: 'done', back: false, bodySchema: null },
      { svcUuid: ui('a'), name: 'done', back: true, bodySchema: null },
    ]);

    const back = await executed(app, id, token.uuid, ui('a'), {});
    const { body } = await get(id);
    expect(body.tokens).toMatchObject([
      { uuid: back.tokenUuid, state: 'ACTIVE', bpmnElementId: expect.any(String) },
      { uuid: token.uuid, state: 'ABORTED', uiActions: [] },
    ]);
    expect(body.historyNext).toBe(body.history?.at(-1)?.seq);
    expect(body.history).toHaveLength(10);
  });

  it('shows the newest ended tokens, up to the page size', async () => {
    const { uuid: id, token } = await started(app, published, 'plain', {});
    const used = [token.uuid];
    for (let round = 0; round < 11; round += 1) {
      await executed(app, id, used.at(-1) ?? '', ui('a'), { round });
      // Without this read, the next action would count as a double click.
      await get(id);
      used.push((await executed(app, id, used.at(-1) ?? '', ui('a'), {})).tokenUuid);
    }
    const { body } = await get(id);

    expect(body.tokens.map(({ uuid: shown }) => shown)).toEqual([used.at(-1), ...used.slice(-10, -1)]);
  });

  it('shows the branches of a split before the token that waits for them', async () => {
    const { uuid: id } = await started(app, published, 'forked', {});
    const { body } = await get(id);

    expect(body.tokens).toHaveLength(3);
    expect(body.tokens).toMatchObject([
      { state: 'ACTIVE', parentTokenUuid: body.tokens[2]?.uuid, uiActions: [{ back: false }] },
      { state: 'ACTIVE', parentTokenUuid: body.tokens[2]?.uuid, uiActions: [{ back: false }] },
      { state: 'ON_HOLD', parentTokenUuid: null, uiActions: [] },
    ]);
  });

  it('shows an instance that could not start, with the incident', async () => {
    const { body: failed } = await start(app, published, 'stops', {});
    const { body } = await get(failed.incident?.processInstanceUuid ?? '');

    expect(body).toMatchObject({ state: 'CREATED', tokens: [], openIncidents: 1 });
    expect(body.incidents).toMatchObject([{ tokenUuid: null, bpmnElementId: 'choice' }]);
  });

  it('shows an incident at the token that it stopped', async () => {
    const { uuid: id, token } = await started(app, published, 'later', {});
    const failed = await execute(app, id, token.uuid, ui('a'), {});
    expect(failed.status).toBe(400);
    const { body } = await get(id);

    expect(body.incidents).toMatchObject([
      { tokenUuid: token.uuid, bpmnElementId: 'choice', requestId: failed.headers.get('x-request-id') },
    ]);
    expect(body.tokens).toMatchObject([
      { uuid: token.uuid, bpmnElementId: 'a', uiActions: [{ name: 'done' }] },
    ]);
  });

  it('omits UI actions in lanes where the caller may not act', async () => {
    const { uuid: id } = await started(app, published, 'laned', {});
    const clerk = await app.tokenWith({ sub: 'clerk', scope: 'process:read loan:clerk' });

    expect((await get(id)).body.tokens).toMatchObject([{ lane: 'Clerk', uiActions: [] }]);
    expect((await get(id, clerk)).body.tokens).toMatchObject([
      { lane: 'Clerk', uiActions: [{ name: 'done' }] },
    ]);
  });

  it('may be read by the caller who started it, without any permission', async () => {
    const john = await app.tokenWith({ sub: 'john', scope: 'openid' });
    const { body } = await start(app, published, 'plain', {}, { token: john });

    expect((await get(body.uuid, john)).status).toBe(200);
    expect((await get(body.uuid)).status).toBe(200);
    const jack = await app.tokenWith({ sub: 'jack', scope: 'openid', preferred_username: 'john' });
    expect((await get(body.uuid, jack)).status).toBe(403);
  });

  it('answers 403 without the permission, whether or not the instance exists', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    const john = await app.tokenWith({ sub: 'john', scope: 'openid' });

    const parts = ['', '/history', '/bpmn', '/diagram', '/progress'];
    const paths = [id, uuid(), 'x', 'no%20uuid'].flatMap((name) => parts.map((part) => `${name}${part}`));
    for (const path of paths) {
      const { status, body } = await get(path, john);
      expect([path, status, body]).toEqual([
        path,
        403,
        {
          error: 'Forbidden',
          message: 'Insufficient permissions to read process data',
          status: 403,
        },
      ]);
    }
  });

  it('answers 401, 404 and 400', async () => {
    expect((await get(uuid(), null)).status).toBe(401);
    expect(await get(uuid())).toMatchObject({
      status: 404,
      body: { message: 'Process instance not found.' },
    });
    expect((await get('unknown')).status).toBe(404);
    expect((await get('no%20uuid')).status).toBe(400);
  });

  it('reports an invalid path before an invalid query', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    const john = await app.tokenWith({ sub: 'john', scope: 'openid' });

    // Unknown parameters and invalid values are checked in different places.
    for (const [query, details] of [
      ['?no=1', /^no: is not a known query parameter/],
      ['?include=x', /^include: /],
    ] as const) {
      expect((await get(`${id}${query}`, john)).status).toBe(403);
      expect((await get(`${uuid()}${query}`)).status).toBe(404);
      expect(await get(`no%20uuid${query}`)).toMatchObject({
        status: 400,
        body: { details: expect.stringMatching(/^uuid: /) as string },
      });
      expect(await get(`${id}${query}`)).toMatchObject({
        status: 400,
        body: { details: expect.stringMatching(details) as string },
      });
    }
  });
});
