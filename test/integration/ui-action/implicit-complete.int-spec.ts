import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { userTaskProcess, taskProcess, userTask } from '../../support/runtime/process-files.js';
import { deliveryPath, packageDocument, publish, type Published } from '../../support/runtime/publish.js';
import { execute, instancePath, started } from '../../support/runtime/runtime-client.js';
import { uniqueName } from '../../support/factories.js';

interface Instance {
  state: string;
  data: Record<string, unknown>;
  tokens: {
    uuid: string;
    state: string;
    uiActions: { svcUuid: string; name: string; bodySchema: unknown }[];
  }[];
}

interface Stored {
  problems?: { code: string; element: string; message: string }[];
  warnings: { code: string; element: string }[];
}

describe('a user task without actions', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.shared();
    published = await publish(app, { bpmn: userTaskProcess('plain', 'approve') });
  });
  afterAll(() => app.close());

  const read = async (uuid: string): Promise<Instance> =>
    (await app.request<Instance>('GET', instancePath(uuid))).body;
  const uiActionOf = (instance: Instance): Instance['tokens'][number]['uiActions'][number] => {
    const [uiAction] = instance.tokens[0]?.uiActions ?? [];
    if (uiAction === undefined) {
      throw new Error('The token has no UI action.');
    }
    return uiAction;
  };

  it('waits, offers the UI action `complete`, and continues when it is executed', async () => {
    const { uuid, state, token } = await started(app, published, 'plain', { amount: 5 });
    expect({ state, status: token.statusCurrentNode }).toEqual({ state: 'STARTED', status: 'ARRIVED' });
    const uiAction = uiActionOf(await read(uuid));
    expect(uiAction).toMatchObject({ name: 'complete', bodySchema: { type: 'object' } });

    expect((await execute(app, uuid, token.uuid, uiAction.svcUuid, {})).status).toBe(200);
    expect(await read(uuid)).toMatchObject({ state: 'FINISHED', data: { amount: 5 } });
  });

  it('accepts no data: a body with members gets 400, and the token still waits', async () => {
    const { uuid, token } = await started(app, published, 'plain');
    const { svcUuid } = uiActionOf(await read(uuid));

    expect((await execute(app, uuid, token.uuid, svcUuid, { note: 'x' })).status).toBe(400);
    expect(await read(uuid)).toMatchObject({ data: {}, tokens: [{ state: 'ACTIVE' }] });
    expect((await execute(app, uuid, token.uuid, svcUuid)).status).toBe(200);
  });

  it('offers the same UI action in every build', async () => {
    const later = await publish(app, { appId: published.appId, bpmn: userTaskProcess('plain', 'approve') });
    const uuids = [];
    for (const build of [published, later]) {
      const { uuid } = await started(app, build, 'plain');
      uuids.push(uiActionOf(await read(uuid)).svcUuid);
    }
    expect(uuids[0]).toBe(uuids[1]);
  });

  it('is accepted by a delivery, unlike tasks without effect and unsupported tasks', async () => {
    const appId = uniqueName('app');
    const store = async (tag: string): Promise<Stored & { status: number }> => {
      const bpmn = userTaskProcess('plain', 'work').replace('<bpmn:userTask', `<bpmn:${tag}`);
      const text = bpmn.replace('</bpmn:userTask>', `</bpmn:${tag.split(' ')[0]}>`);
      const path = `${deliveryPath(appId, 'v1')}/package`;
      const { status, body } = await app.request<Stored>('PUT', path, {
        body: packageDocument(appId, { bpmn: text }),
      });
      return { ...body, status };
    };
    expect(await store('userTask')).toMatchObject({ status: 200, warnings: [] });
    expect(await store('serviceTask')).toMatchObject({
      status: 200,
      warnings: [{ code: 'TASK_DOES_NOTHING', element: 'work' }],
    });
    expect(await store('serviceTask implementation="##WebService"')).toMatchObject({
      status: 400,
      problems: [
        {
          code: 'UNSUPPORTED_ELEMENT',
          element: 'work',
          message: expect.stringContaining('automatic svc:action of kind "startWorkflow"'),
        },
      ],
    });
  });

  it('causes a warning with a suggestion if an action has misspelled keys', async () => {
    const appId = uniqueName('app');
    const keyed = userTask('work', {
      actions: [{ name: 'decide', manual: true, keys: 'decison' }],
      uiActions: { decide: '<svc:bodySchema>{"properties":{"decision":{}}}</svc:bodySchema>' },
    });
    const path = `${deliveryPath(appId, 'v1')}/package`;
    const { status, body } = await app.request<Stored>('PUT', path, {
      body: packageDocument(appId, { bpmn: taskProcess('keyed', keyed) }),
    });
    expect({ status, warnings: body.warnings }).toMatchObject({
      status: 200,
      warnings: [
        {
          code: 'KEY_NAMES_NOTHING',
          element: 'work',
          message: expect.stringContaining('Did you mean "decision"?'),
        },
        { code: 'INPUT_NOT_TAKEN', element: 'work', message: expect.stringContaining('"decision"') },
      ],
    });
  });
});
