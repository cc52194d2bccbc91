import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { ProcessInstanceEntity } from '../../../src/runtime/storage/process-instance.entity.js';
import { flows, node, processFile, taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { eventually, execute, instancePath, started } from '../../support/runtime/runtime-client.js';

/** The lane of the first task requires no permission; the second task is in the lane of clerks. */
const LANED = processFile(
  'laned',
  `<bpmn:laneSet id="lanes">
     <bpmn:lane id="all"><bpmn:flowNodeRef>start</bpmn:flowNodeRef><bpmn:flowNodeRef>a</bpmn:flowNodeRef><bpmn:flowNodeRef>end</bpmn:flowNodeRef></bpmn:lane>
     <bpmn:lane id="clerk" svc:execute="loan-clerk"><bpmn:flowNodeRef>b</bpmn:flowNodeRef></bpmn:lane>
   </bpmn:laneSet>
   ${node('startEvent', 'start')}${userTask('a')}${userTask('b')}${node('endEvent', 'end')}${flows('start>a a>b b>end')}`,
);
const CALLING = processFile(
  'calling',
  `${node('startEvent', 'start')}${node('callActivity', 'call', '', 'calledElement="called"')}${node('endEvent', 'end')}
   ${flows('start>call call>end')}`,
);
const RULES = {
  PERMISSION_RULES: JSON.stringify({
    'application-delivery': [{ claim: 'scope', has: 'application:deliver' }],
    'process-read': [{ claim: 'scope', has: 'process:read' }],
    'process-administration': [{ claim: 'scope', has: 'process:administer' }],
    'loan-clerk': [{ claim: 'scope', has: 'loan:clerk' }],
  }),
};

describe('access to UI actions', () => {
  let app: TestApp;
  let open: TestApp;
  let published: Published;
  let stranger: string;
  let clerk: string;

  beforeAll(async () => {
    app = await TestApp.start(RULES);
    open = await TestApp.start({ ...RULES, PROCESS_UI_ACTION_ACCESS: 'any-token' });
    published = await publish(app, { bpmn: [LANED, CALLING, taskProcess('called', userTask('c'))] });
    stranger = await app.tokenWith({ sub: 'stranger', scope: 'openid' });
    clerk = await app.tokenWith({ sub: 'clerk', scope: 'loan:clerk' });
  });
  afterAll(async () => {
    await open.close();
    await app.close();
  });

  it('is denied to strangers, who always get the same response', async () => {
    const { uuid: process, token } = await started(app, published, 'laned');
    const paths: [string, string, string][] = [
      [process, token.uuid, ui('a')],
      [process, token.uuid, ui('b')],
      [process, uuid(), ui('a')],
      [process, token.uuid, uuid()],
      [uuid(), token.uuid, ui('a')],
    ];
    for (const options of [{}, { rawBody: '{"' }]) {
      const answers = await Promise.all(
        paths.map((path) => execute(app, ...path, undefined, { token: stranger, ...options })),
      );
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers[0]).toMatchObject({ status: 404, body: { message: 'Process instance not found.' } });
    }
  });

  it('is granted to the starter, and in a lane to callers with its permission', async () => {
    const { uuid: process, token } = await started(app, published, 'laned');
    const as = (task: string, caller?: string) =>
      execute(app, process, token.uuid, ui(task), {}, caller === undefined ? {} : { token: caller });

    expect((await as('a', clerk)).status).toBe(404);
    expect((await as('a')).status).toBe(200);
    expect((await as('b')).status).toBe(403);
    expect((await as('b', clerk)).status).toBe(200);
  });

  it('is granted to any caller with a valid token if configured', async () => {
    const { uuid: process, token } = await started(open, published, 'laned');
    const other = await open.tokenWith({ sub: 'stranger', scope: 'openid' });
    const as = (tokenUuid: string, task: string) =>
      execute(open, process, tokenUuid, ui(task), {}, { token: other });

    expect((await as(token.uuid, 'a')).status).toBe(200);
    expect((await as(token.uuid, 'b')).status).toBe(403);
    const unknown = await execute(open, process, token.uuid, uuid(), {}, { token: other });
    expect(unknown).toMatchObject({
      status: 404,
      body: { message: 'UI action not found for this process.' },
    });
  });

  it('is denied to readers, who get 404 and see no UI actions', async () => {
    const { uuid: process, token } = await started(app, published, 'laned');
    const reader = await app.tokenWith({ sub: 'reader', scope: 'process:read' });
    const refused = await execute(app, process, token.uuid, ui('a'), {}, { token: reader });
    expect(refused).toMatchObject({ status: 404, body: { message: 'Process instance not found.' } });

    expect(await uiActionsOf(process, reader)).toEqual([[]]);
    expect(await uiActionsOf(process)).toEqual([[expect.objectContaining({ svcUuid: ui('a') })]]);
  });

  it('is granted to administrators if the instance has no starter', async () => {
    const { uuid: process, token } = await started(app, published, 'laned');
    // Instances that a timer or message started have no starter.
    const instances = app.dataSource.getRepository(ProcessInstanceEntity);
    await instances.update({ uuid: process }, { starter: null, startedBy: null });
    const admin = await app.tokenWith({ sub: 'admin', scope: 'process:administer' });
    const as = (caller: string | undefined, task: string) =>
      execute(app, process, token.uuid, ui(task), {}, caller === undefined ? {} : { token: caller });

    const noAdmin = await app.tokenWith({ scope: 'openid process:read' });
    expect((await as(noAdmin, 'a')).status).toBe(404);
    expect((await as(stranger, 'a')).status).toBe(404);
    expect((await as(admin, 'a')).status).toBe(200);
    expect((await as(admin, 'b')).status).toBe(403);
    expect((await as(clerk, 'b')).status).toBe(200);
  });

  it('is granted in a called process to the starter of the root process', async () => {
    const { uuid: process } = await started(app, published, 'calling');
    const { body } = await eventually(
      () => app.request<{ children: { uuid: string }[] }>('GET', instancePath(process)),
      (answer) => answer.body.children.length === 1,
    );
    const child = body.children[0]?.uuid ?? '';
    const called = await app.request<{ tokens: { uuid: string }[] }>('GET', instancePath(child));
    const tokenUuid = called.body.tokens[0]?.uuid ?? '';

    expect((await execute(app, child, tokenUuid, ui('c'), {}, { token: stranger })).status).toBe(404);
    expect((await execute(app, child, tokenUuid, ui('c'), {})).status).toBe(200);
  });

  async function uiActionsOf(process: string, token?: string): Promise<unknown[]> {
    const options = token === undefined ? {} : { token };
    const { body } = await app.request<{ tokens: { uiActions: unknown[] }[] }>(
      'GET',
      instancePath(process),
      options,
    );
    return body.tokens.map(({ uiActions }) => uiActions);
  }
});
