import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { whileLocked, eventRows, instanceRow, tokenRows } from '../../support/runtime/runtime-rows.js';
import { flows, node, processFile, taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import {
  eventually,
  execute,
  executed,
  instancePath,
  started,
  type CallOptions,
} from '../../support/runtime/runtime-client.js';

const approval = (name: string, allowBack: string) =>
  taskProcess(
    name,
    userTask('approve', { actions: [{ name: 'done', manual: true, keys: '*', allowBack }] }),
    userTask('archive'),
  );
const APPROVE = ui('approve');
const CHANGED = 'It was changed meanwhile: read it again.';
const GO_BACK = { headers: { 'svc-back': 'true' } };
const onVisit = (tag: string): CallOptions => ({ headers: { 'if-match': tag } });

describe('the visit of a token', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.shared({ JOBS_CONCURRENCY: '0', 'processLimits.repeatWindowMs': '0' });
    published = await publish(app, {
      bpmn: [
        approval('approval', 'true'),
        approval('careful', 'explicit'),
        processFile(
          'single',
          `${node('startEvent', 'start')}${userTask('only')}${node('exclusiveGateway', 'which', '', 'default="which_end"')}
           ${node('endEvent', 'end')}${flows('start>only only>which which>only[more] which>end')}`,
        ),
      ],
    });
  });
  afterAll(() => app.close());

  const begin = async (name: string): Promise<{ uuid: string; token: string; visit: number }> => {
    const { uuid, token } = await started(app, published, name, { more: false });
    return { uuid, token: token.uuid, visit: token.visit };
  };
  const kinds = async (uuid: string): Promise<string[]> =>
    (await eventRows(app, (await instanceRow(app, uuid)).id)).map(({ kind }) => kind);

  it('is returned by the start, the instance and the tasks, and increases', async () => {
    const { uuid, token, visit } = await begin('approval');
    expect(visit).toBe(2);
    await executed(app, uuid, token, APPROVE, {});

    const { body: instance } = await app.request<{ tokens: object[] }>('GET', instancePath(uuid));
    expect(instance.tokens).toMatchObject([{ uuid: token, visit: 3 }]);
    const path = `/rtm/api/runtime/task?processInstanceUuid=${uuid}`;
    const { body: page } = await app.request<{ tasks: object[] }>('GET', path);
    expect(page.tasks).toMatchObject([{ tokenUuid: token, visit: 3 }]);
  });

  it('in If-Match prevents an outdated page from going back', async () => {
    const { uuid, token } = await begin('approval');
    expect((await execute(app, uuid, token, APPROVE, {}, onVisit('"2"'))).status).toBe(200);
    const before = await kinds(uuid);
    for (const tag of ['"2"', 'W/"2"', '"7"', '"2", "4"']) {
      const { status, body } = await execute(app, uuid, token, APPROVE, {}, onVisit(tag));
      expect([status, body.message], tag).toEqual([412, CHANGED]);
    }
    expect(await kinds(uuid)).toEqual(before);

    const back = await execute(app, uuid, token, APPROVE, {}, onVisit('"2", W/"3"'));
    expect(back).toMatchObject({ status: 200, body: { backAction: true } });
    const { tokenUuid } = back.body;
    expect((await execute(app, uuid, tokenUuid, APPROVE, {}, onVisit('*'))).body.backAction).toBe(false);
    // The visit of the new token continues the count, so earlier tags never match it.
    const rows = await tokenRows(app, (await instanceRow(app, uuid)).id);
    expect(rows.find((row) => row.uuid === tokenUuid)).toMatchObject({ visit: 5 });
  });

  it('is checked after 404, 400 and replayed answers, and before the state of the token', async () => {
    const { uuid, token } = await begin('single');
    const first = await execute(app, uuid, token, ui('only'), {}, { key: 'one', ...onVisit('"2"') });
    expect(first.status).toBe(200);
    const again = await execute(app, uuid, token, ui('only'), {}, { key: 'one', ...onVisit('"2"') });
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect((await execute(app, uuid, token, ui('only'), {}, onVisit('"2"'))).body.message).toBe(
      'The token is not active.',
    );

    const open = await begin('approval');
    await executed(app, open.uuid, open.token, APPROVE, {});
    const answers = [
      await execute(app, open.uuid, open.token, ui('unknown'), {}, onVisit('1')),
      await execute(app, open.uuid, open.token, APPROVE, {}, onVisit('1')),
      await execute(app, open.uuid, open.token, APPROVE, {}, { headers: { 'svc-back': 'yes' } }),
      await execute(
        app,
        open.uuid,
        open.token,
        ui('archive'),
        {},
        { ...GO_BACK, headers: { ...GO_BACK.headers, 'if-match': '"2"' } },
      ),
    ];
    expect(answers.map(({ status, body }) => [status, body['details']])).toEqual([
      [404, undefined],
      [400, 'If-Match: must be * or entity tags in quotes, as in ETag'],
      [400, 'svc-back: must be true or omitted'],
      [412, 'If-Match'],
    ]);
  });

  it.each([
    ['that ends the process', 'single', ui('only')],
    ['that becomes unavailable', 'approval', APPROVE],
  ])(
    'of an action %s: equal concurrent requests get the same answer, later ones 409 or 412',
    async (_, name, action) => {
      const { uuid, token } = await begin(name);
      const answers = await whileLocked(app, uuid, () => [
        execute(app, uuid, token, action, { n: 1 }, onVisit('"2"')),
        execute(app, uuid, token, action, { n: 1 }, onVisit('"2"')),
        execute(app, uuid, token, action, { n: 1 }),
      ]);

      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers[0]).toMatchObject({ status: 200, body: { tokenUuid: token, backAction: false } });
      expect((await kinds(uuid)).filter((kind) => kind === 'ACTION_EXECUTED')).toHaveLength(1);
      const later = await execute(app, uuid, token, action, { n: 1 }, onVisit('"2"'));
      expect(later.status).toBe(name === 'single' ? 409 : 412);
    },
  );

  it('in If-Match selects the execution even if the request arrives before that visit', async () => {
    const send = async (): Promise<number[]> => {
      const { uuid, token } = await begin('single');
      // The gateway between the two counts as a visit too.
      const tags = ['"2"', '"4"'];
      const answers = await whileLocked(app, uuid, () =>
        tags.map((tag) => execute(app, uuid, token, ui('only'), { more: tag === '"2"' }, onVisit(tag))),
      );
      return answers.map(({ status }) => status);
    };
    // The database may run either first. If the second runs first, it gets 412, so try again.
    expect(await eventually(send, ([, second]) => second !== 412)).toEqual([200, 200]);
  });

  it('is only left by an action with allowBack="explicit" if the caller sends svc-back', async () => {
    const { uuid, token } = await begin('careful');
    const here = await execute(app, uuid, token, APPROVE, {}, GO_BACK);
    expect([here.status, here.body.message]).toEqual([
      409,
      'The token stands at the node of the UI action: there is nothing to go back to.',
    ]);
    await executed(app, uuid, token, APPROVE, {});

    const refused = await execute(app, uuid, token, APPROVE, {}, onVisit('"3"'));
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'The UI action would take the token back. Send the header svc-back: true to go back.',
    ]);
    expect((await kinds(uuid)).includes('BACK')).toBe(false);
    const { body } = await app.request<{ tokens: { uiActions: object[] }[] }>('GET', instancePath(uuid));
    expect(body.tokens[0]?.uiActions).toMatchObject([{ back: false }, { svcUuid: APPROVE, back: true }]);
    expect((await execute(app, uuid, token, APPROVE, {}, GO_BACK)).body.backAction).toBe(true);
  });
});
