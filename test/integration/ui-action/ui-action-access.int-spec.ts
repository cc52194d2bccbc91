import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { execute, started } from '../../support/runtime/runtime-client.js';

/** The first task stands in no lane, the second in that of the clerks. */
const LANED = processFile(
  'laned',
  `<bpmn:laneSet id="lanes">
     <bpmn:lane id="all"><bpmn:flowNodeRef>start</bpmn:flowNodeRef><bpmn:flowNodeRef>a</bpmn:flowNodeRef><bpmn:flowNodeRef>end</bpmn:flowNodeRef></bpmn:lane>
     <bpmn:lane id="clerk" svc:execute="loan-clerk"><bpmn:flowNodeRef>b</bpmn:flowNodeRef></bpmn:lane>
   </bpmn:laneSet>
   ${node('startEvent', 'start')}${userTask('a')}${userTask('b')}${node('endEvent', 'end')}${flows('start>a a>b b>end')}`,
);
const RULES = {
  PERMISSION_RULES: JSON.stringify({
    'application-delivery': [{ claim: 'scope', has: 'application:deliver' }],
    'loan-clerk': [{ claim: 'scope', has: 'loan:clerk' }],
  }),
};

describe('who may execute a UI action', () => {
  let app: TestApp;
  let open: TestApp;
  let published: Published;
  let stranger: string;
  let clerk: string;

  beforeAll(async () => {
    app = await TestApp.start(RULES);
    open = await TestApp.start({ ...RULES, PROCESS_UI_ACTION_ACCESS: 'any-token' });
    published = await publish(app, { bpmn: LANED });
    stranger = await app.tokenWith({ sub: 'stranger', scope: 'openid' });
    clerk = await app.tokenWith({ sub: 'clerk', scope: 'loan:clerk' });
  });
  afterAll(async () => {
    await open.close();
    await app.close();
  });

  it('is no stranger, who is told the same of everything', async () => {
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

  it('is who started it, and in a lane who has its permission', async () => {
    const { uuid: process, token } = await started(app, published, 'laned');
    const as = (task: string, caller?: string) =>
      execute(app, process, token.uuid, ui(task), {}, caller === undefined ? {} : { token: caller });

    expect((await as('a', clerk)).status).toBe(404);
    expect((await as('a')).status).toBe(200);
    expect((await as('b')).status).toBe(403);
    expect((await as('b', clerk)).status).toBe(200);
  });

  it('is anybody with a valid token where the setting says so', async () => {
    const { uuid: process, token } = await started(open, published, 'laned');
    const other = await open.tokenWith({ sub: 'stranger', scope: 'openid' });
    const as = (tokenUuid: string, task: string) =>
      execute(open, process, tokenUuid, ui(task), {}, { token: other });

    expect((await as(token.uuid, 'a')).status).toBe(200);
    expect((await as(token.uuid, 'b')).status).toBe(404);
  });
});
