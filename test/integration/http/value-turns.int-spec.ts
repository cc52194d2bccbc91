import { afterEach, describe, expect, it, vi } from 'vitest';
import { ProcessStarter } from '../../../src/runtime/steps/process-starter.js';
import { TestApp, limitMetrics } from '../../support/app.js';
import { taskProcess, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { eventually, start } from '../../support/runtime/runtime-client.js';

/** Number of values of a body in these tests: the object, its list and the elements. */
const VALUES = 3_000;
/** Far below the limit on bytes. */
const body = { list: Array.from({ length: VALUES - 2 }, () => 1) };
const LONG = '600000';

describe('request bodies of many values of one caller', () => {
  let app: TestApp;
  let published: Published;
  /** Completes the starts that hang. */
  let release = (): void => undefined;
  afterEach(async () => {
    release();
    vi.restoreAllMocks();
    await app.close();
  });

  async function begin(settings: Record<string, string>): Promise<void> {
    app = await TestApp.start(settings);
    published = await publish(app, { bpmn: taskProcess('plain', userTask('a')) });
  }

  const send = (sent: object = body, token?: string) =>
    start(app, published, 'plain', sent, token === undefined ? {} : { token });

  /** Sends starts that stay in progress until `release`. */
  async function hang(count: number): Promise<Promise<{ status: number }>[]> {
    const starter = app.nest.get(ProcessStarter);
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const original = starter.start.bind(starter);
    const spy = vi.spyOn(starter, 'start');
    for (let index = 0; index < count; index += 1) {
      spy.mockImplementationOnce(async (...call) => {
        await released;
        return original(...call);
      });
    }
    const sent = Array.from({ length: count }, () => send());
    await eventually(
      () => Promise.resolve(spy.mock.calls.length),
      (calls) => calls === count,
    );
    return sent;
  }

  it('are answered 429 when they wait too long, unlike small ones and those of other callers', async () => {
    await begin({ 'httpLimits.callerBodyValues': String(2 * VALUES), 'httpLimits.callerBodyWaitMs': '100' });
    const hanging = await hang(2);
    const refused = await send();

    expect(refused.body).toEqual({
      error: 'Too Many Requests',
      message: 'Too many requests.',
      status: 429,
      details: `caller-body-values is ${2 * VALUES}. Try again in 1 seconds.`,
    });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await limitMetrics(app, 'caller-body-values')).toEqual({
      maximum: 2 * VALUES,
      refusals: 1,
      all: 2 * VALUES,
      largest: 2 * VALUES,
    });
    expect((await send({ list: body.list.slice(VALUES / 2) })).status).toBe(200);
    expect((await send(body, await app.tokenWith({ sub: 'somebody-else' }))).status).toBe(200);

    release();
    expect((await Promise.all(hanging)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await send()).status).toBe(200);
  });

  it('proceed when earlier ones have ended', async () => {
    await begin({ 'httpLimits.callerBodyValues': '1', 'httpLimits.callerBodyWaitMs': LONG });
    const [first] = await hang(1);
    const waiting = [send(), send()];
    release();
    expect((await first)?.status).toBe(200);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('do not wait if there is no limit', async () => {
    await begin({ 'httpLimits.callerBodyValues': '0', 'httpLimits.callerBodyWaitMs': '100' });
    const hanging = await hang(2);
    expect((await send()).status).toBe(200);
    release();
    expect((await Promise.all(hanging)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await limitMetrics(app, 'caller-body-values')).toMatchObject({
      maximum: undefined,
      refusals: 0,
    });
  });
});
