import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { whileLocked, eventRows, instanceRow } from '../../support/runtime/runtime-rows.js';
import {
  flows,
  node,
  processFile,
  taskProcess,
  ui,
  userTask,
  type UserTaskSpec,
} from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import {
  eventually,
  execute,
  executed,
  instancePath,
  started,
} from '../../support/runtime/runtime-client.js';

const CALLS = 10;

/** Returns a process that repeats a task until the condition is true. */
function loop(name: string, condition: string, task: UserTaskSpec = {}): string {
  return processFile(
    name,
    `${node('startEvent', 'start')}${userTask('ask', task)}
     ${node('exclusiveGateway', 'which', '', 'default="which_ask"')}${node('endEvent', 'end')}
     ${flows(`start>ask ask>which which>ask which>end[${condition}]`)}`,
  );
}

const DONE = { name: 'done', manual: true, keys: '*', autoRunChildren: true };
/** A task whose action continues in the background before the task repeats. */
const LATER = {
  actions: [
    DONE,
    { name: 'later', parent: 'done', delay: 'PT0.3S', inner: '<svc:data>{"asked": true}</svc:data>' },
  ],
};
const NOTES = {
  actions: [{ name: 'note', manual: true, optional: true, repeatable: true, keys: '*' }, DONE],
};
const SETTINGS = {
  'processLimits.repeatWindowMs': '60000',
  PROCESS_UI_ACTION_ACCESS: 'any-token',
  'jobLimits.pollMs': '50',
};

describe('repeating a UI action on the same token', () => {
  let app: TestApp;
  let other: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.start(SETTINGS);
    // Only one process can use an embedded database. Each replica has its own issuer here, so callers differ.
    const isEmbedded = (process.env['DATABASE_URL'] ?? '').startsWith('sqlite:');
    other = isEmbedded ? app : await TestApp.start({ ...SETTINGS, JOBS_CONCURRENCY: '0' });
    published = await publish(app, {
      bpmn: [
        loop('loop', 'enough'),
        loop('fragile', 'divisor > 100'),
        loop('later', 'enough', LATER),
        taskProcess('notes', userTask('ask', NOTES)),
      ],
    });
  });
  afterAll(async () => {
    await app.close();
    await (other === app ? undefined : other.close());
  });

  const begin = async (name: string, data: object = {}): Promise<{ uuid: string; token: string }> => {
    const { uuid, token } = await started(app, published, name, { enough: false, ...data });
    return { uuid, token: token.uuid };
  };
  const executions = async (uuid: string): Promise<number> => {
    const events = await eventRows(app, (await instanceRow(app, uuid)).id);
    return events.filter(({ kind }) => kind === 'ACTION_EXECUTED').length;
  };
  const sorted = (answers: { status: number }[]): number[] =>
    answers.map(({ status }) => status).toSorted((one, next) => one - next);
  const sendConcurrently = (
    uuid: string,
    send: (replica: TestApp, call: number) => ReturnType<typeof execute>,
  ) =>
    whileLocked(app, uuid, () =>
      Array.from({ length: CALLS }, (_, call) => send(call % 2 === 0 ? app : other, call)),
    );

  it('ten times concurrently executes once even if the flow returns to the task, and all get the same answer', async () => {
    const { uuid, token } = await begin('loop');
    const answers = await sendConcurrently(uuid, () => execute(app, uuid, token, ui('ask'), { n: 1 }));

    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 200, body: { backAction: false, tokenUuid: token } });
    expect(await executions(uuid)).toBe(1);
  });

  it('concurrently by ten callers executes once, and all others get 409', async () => {
    const { uuid, token } = await begin('loop');
    const callers = await Promise.all(
      Array.from({ length: CALLS }, (_, n) => (n % 2 === 0 ? app : other).tokenWith({ sub: `caller-${n}` })),
    );
    const answers = await sendConcurrently(uuid, (replica, n) =>
      execute(replica, uuid, token, ui('ask'), {}, { token: callers[n] ?? null }),
    );

    expect(sorted(answers)).toEqual([200, ...Array.from({ length: CALLS - 1 }, () => 409)]);
    expect(answers.find(({ status }) => status === 409)?.body.message).toBe(
      'The UI action has just been executed. To execute it once more, read the instance first.',
    );
    expect(await executions(uuid)).toBe(1);
  });

  it('concurrently with ten bodies executes once, and all others get 409', async () => {
    const { uuid, token } = await begin('loop');
    const answers = await sendConcurrently(uuid, (replica, n) =>
      execute(replica, uuid, token, ui('ask'), { n }),
    );

    expect(sorted(answers)).toEqual([200, ...Array.from({ length: CALLS - 1 }, () => 409)]);
    expect(await executions(uuid)).toBe(1);
  });

  it.each([
    ['equal bodies only', () => ({})],
    ['a different key', (visit: number) => ({ key: `call-${visit}` })],
    ['the current visit', (visit: number) => ({ headers: { 'if-match': `"${visit}"` } })],
  ])('executes on each visit that was read before, with %s', async (_, options) => {
    const { uuid, token } = await begin('loop');
    for (const replica of [app, other, app]) {
      const { body } = await replica.request<{ tokens: { visit: number }[] }>('GET', instancePath(uuid));
      const sent = options(body.tokens[0]?.visit ?? 0);
      expect((await execute(replica, uuid, token, ui('ask'), { n: 1 }, sent)).status).toBe(200);
    }
    expect(await executions(uuid)).toBe(3);
  });

  it('concurrently with ten keys executes once, and no request gets the answer of another', async () => {
    const { uuid, token } = await begin('loop');
    const answers = await sendConcurrently(uuid, (replica, n) =>
      execute(replica, uuid, token, ui('ask'), { n: 1 }, { key: `at-once-${n}` }),
    );

    expect(sorted(answers)).toEqual([200, ...Array.from({ length: CALLS - 1 }, () => 409)]);
    expect(await executions(uuid)).toBe(1);
  });

  it('does not execute if it was received before the last background step of the action', async () => {
    const { uuid, token } = await begin('later');
    await executed(app, uuid, token, ui('ask'), { n: 1 });
    await whileLocked(app, uuid, () => [execute(app, uuid, token, ui('ask'), { n: 1 })]);
    await eventually(
      () => app.request<{ tokens: { uiActions: unknown[] }[] }>('GET', instancePath(uuid)),
      ({ body }) => (body.tokens[0]?.uiActions.length ?? 0) > 0,
    );
    expect(await executions(uuid)).toBe(2);

    await executed(other, uuid, token, ui('ask'), { n: 1 });
    expect(await executions(uuid)).toBeGreaterThan(2);
  });

  it('executes if it only waited for a transaction that changed nothing', async () => {
    const { uuid, token } = await begin('loop');
    await executed(app, uuid, token, ui('ask'), { n: 1 });
    const [answer] = await whileLocked(app, uuid, () => [execute(other, uuid, token, ui('ask'), { n: 2 })]);

    expect(answer?.status).toBe(200);
    expect(await executions(uuid)).toBe(2);
  });

  it('executes despite concurrent requests that were rejected or after which the process stopped', async () => {
    const { uuid, token } = await begin('fragile', { divisor: 2 });
    await executed(app, uuid, token, ui('ask'), { n: 1 });
    const answers = await whileLocked(app, uuid, () => [
      execute(app, uuid, token, ui('ask'), { divisor: 'none' }),
      execute(other, uuid, token, ui('unknown'), {}),
      execute(other, uuid, token, ui('ask'), { divisor: 'none' }),
    ]);
    expect(answers.map(({ status, body }) => [status, body.incident !== undefined])).toEqual([
      [409, true],
      [404, false],
      [409, true],
    ]);
    const [last] = await whileLocked(app, uuid, () => [
      execute(other, uuid, token, ui('ask'), { divisor: 4 }),
      execute(app, uuid, token, ui('ask'), { divisor: 'none' }),
    ]);
    expect(last?.status).toBe(200);
    expect(await executions(uuid)).toBe(2);
  });

  it('executes on another token', async () => {
    const [one, two] = [await begin('loop'), await begin('loop')];
    await executed(app, one.uuid, one.token, ui('ask'), { n: 1 });
    await executed(app, two.uuid, two.token, ui('ask'), { n: 1 });
    expect([await executions(one.uuid), await executions(two.uuid)]).toEqual([1, 1]);
  });

  it('replays a repeatable action with the same body, and executes it with another body or key', async () => {
    const { uuid, token } = await begin('notes');
    const same = await sendConcurrently(uuid, () => execute(app, uuid, token, ui('ask', 'note'), { n: 0 }));
    expect(new Set(same.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await executions(uuid)).toBe(1);

    const others = await sendConcurrently(uuid, (replica, n) =>
      execute(replica, uuid, token, ui('ask', 'note'), { n: n + 1 }),
    );
    expect(sorted(others)).toEqual(Array.from({ length: CALLS }, () => 200));
    const keyed = await sendConcurrently(uuid, (replica, n) =>
      execute(replica, uuid, token, ui('ask', 'note'), { n: 0 }, { key: `note-${n}` }),
    );
    expect(sorted(keyed)).toEqual(Array.from({ length: CALLS }, () => 200));
    expect(await executions(uuid)).toBe(1 + 2 * CALLS);
  });
});
