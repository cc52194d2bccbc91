import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../../src/store/database.js';
import { TestApp } from '../../support/app.js';
import { taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { eventually, execute, executed, started } from '../../support/runtime/runtime-client.js';
import { whileLocked, instanceRow } from '../../support/runtime/runtime-rows.js';

const WINDOW_MS = 2_000;
const LOCKED_MS = 500;
const BACK = taskProcess(
  'back',
  userTask('first', { actions: [{ name: 'enter', manual: true, keys: '*', allowBack: true }] }),
  userTask('second'),
);
const ENTER = ui('first', 'enter');
const SETTINGS = {
  JOBS_CONCURRENCY: '0',
  'processLimits.repeatWindowMs': String(WINDOW_MS),
  PROCESS_UI_ACTION_ACCESS: 'any-token',
};
const isEmbedded = (process.env['DATABASE_URL'] ?? '').startsWith('sqlite:');

describe('repeating a UI action', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.start(SETTINGS);
    published = await publish(app, { bpmn: BACK });
  });
  afterAll(() => app.close());

  it('ten times concurrently executes one step, and all requests get its answer', async () => {
    const { uuid, token } = await started(app, published, 'back');
    const answers = await whileLocked(app, uuid, () =>
      Array.from({ length: 10 }, () => execute(app, uuid, token.uuid, ENTER, { n: 1 })),
    );

    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 200, body: { backAction: false, tokenUuid: token.uuid } });
    expect((await instanceRow(app, uuid)).rev).toBe(2);
  });

  it('by another caller within the window answers 409 with a hint what to do', async () => {
    const { uuid, token } = await started(app, published, 'back');
    await executed(app, uuid, token.uuid, ENTER, {});
    const other = await app.tokenWith({ sub: 'other' });
    const refused = await execute(app, uuid, token.uuid, ENTER, {}, { token: other });

    expect({ status: refused.status, message: refused.body.message }).toEqual({
      status: 409,
      message: 'The UI action has just been executed. To go back, read the instance and execute it again.',
    });
  });

  it('returns the first answer within the window, and goes back later', async () => {
    const { uuid, token } = await started(app, published, 'back');
    const first = await execute(app, uuid, token.uuid, ENTER, {});
    expect((await execute(app, uuid, token.uuid, ENTER, {})).text).toBe(first.text);

    const back = await eventually(
      () => execute(app, uuid, token.uuid, ENTER, {}),
      ({ body }) => body.backAction,
    );
    expect(back).toMatchObject({ status: 200, body: { resetToken: true } });
    expect((await instanceRow(app, uuid)).rev).toBe(3);
  });

  it.each([
    ['another key', { key: 'later' }],
    ['the current visit', { headers: { 'if-match': '"3"' } }],
    ['the header svc-back', { headers: { 'svc-back': 'true' } }],
  ])('goes back immediately with %s, and its repeat gets the same answer', async (_, options) => {
    const { uuid, token } = await started(app, published, 'back');
    expect((await execute(app, uuid, token.uuid, ENTER, {}, { key: 'first' })).body.backAction).toBe(false);
    const answers = await whileLocked(app, uuid, () =>
      [1, 2].map(() => execute(app, uuid, token.uuid, ENTER, {}, options)),
    );

    expect(answers.map(({ status, body }) => [status, body.backAction])).toEqual([
      [200, true],
      [200, true],
    ]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
    expect((await instanceRow(app, uuid)).rev).toBe(3);
  });

  it('goes back immediately with another body', async () => {
    const { uuid, token } = await started(app, published, 'back');
    await executed(app, uuid, token.uuid, ENTER, { n: 1 });

    expect((await executed(app, uuid, token.uuid, ENTER, { n: 2 })).backAction).toBe(true);
  });

  it('does not go back for requests received before the step was committed, regardless of their body', async () => {
    const { uuid, token } = await started(app, published, 'back');
    const answers = await whileLocked(app, uuid, () =>
      Array.from({ length: 4 }, (_, n) => execute(app, uuid, token.uuid, ENTER, { n })),
    );

    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 409, 409, 409]);
    expect((await instanceRow(app, uuid)).rev).toBe(2);
    const back = await executed(app, uuid, token.uuid, ENTER, { n: 9 });
    expect(back.backAction).toBe(true);
  });

  it.skipIf(isEmbedded)('does not go back on another replica during a slow step', async () => {
    const other = await TestApp.start(SETTINGS);
    try {
      const { uuid, token } = await started(app, published, 'back');
      const { id } = await instanceRow(app, uuid);
      const calls = await app.nest.get(Database).write(async (manager) => {
        // The step records its time before it waits for this lock.
        await manager.query('SELECT id FROM process_tokens WHERE instance_id = ? FOR UPDATE', [id]);
        const first = execute(app, uuid, token.uuid, ENTER, { n: 1 });
        await setTimeout(LOCKED_MS);
        const second = execute(other, uuid, token.uuid, ENTER, { n: 2 });
        await setTimeout(LOCKED_MS);
        return { first, second };
      });
      expect([(await calls.first).status, (await calls.second).status]).toEqual([200, 409]);
      expect((await executed(other, uuid, token.uuid, ENTER, { n: 2 })).backAction).toBe(true);
    } finally {
      await other.close();
    }
  });
});
