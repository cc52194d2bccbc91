import { afterEach, describe, expect, it, vi } from 'vitest';
import { Bulkhead } from '../../../../src/platform/concurrency/bulkhead.js';
import { TestApp } from '../../../../test/support/app.js';
import { userTaskProcess } from '../../../../test/support/runtime/process-files.js';
import { deliveryPath, packageDocument } from '../../../../test/support/runtime/publish.js';
import { newPlace } from '../../../../test/integration/systems/rows.js';
import { store, type PackageAnswer } from '../../../../test/integration/builds/rows.js';

const APP_ID = 'hostile';
/**
 * Minimum number of probes answered while hostile packages are checked. With checks on the same event loop there were at
 * most two.
 */
const MIN_PROBES = 6;

function bpmn(content: string): string {
  return `<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:t"><bpmn:process id="p" isExecutable="true">${content}</bpmn:process></bpmn:definitions>`;
}

function many(count: number, one: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => one(index)).join('');
}

/** Returns dense files that are not rejected for it, each a second of work. */
function dense(files: number): string {
  const file = bpmn(many(30_000, (index) => `<bpmn:task id="t${index}"/>`));
  return JSON.stringify(packageDocument(APP_ID, { bpmn: Array.from({ length: files }, () => file) }));
}

/** Returns files full of errors. */
function faulty(files: number): string {
  const file = bpmn('<bpmn:x/>\n'.repeat(40_000));
  return JSON.stringify(packageDocument(APP_ID, { bpmn: Array.from({ length: files }, () => file) }));
}

/** Very many elements in the JSON of an otherwise valid package. */
const EMPTY_LISTS = JSON.stringify(packageDocument(APP_ID)).replace(
  /}$/,
  `,"x":[${many(250, () => `[${'[],'.repeat(9_999)}[]],`)}[]]}`,
);

describe('hostile packages', () => {
  let app: TestApp | undefined;
  afterEach(async () => {
    vi.restoreAllMocks();
    await app?.close();
  });

  const start = async (settings: Record<string, string> = {}): Promise<TestApp> => {
    app = await TestApp.start(settings);
    return app;
  };
  const deliver = (to: TestApp, rawBody: string, signal?: AbortSignal) =>
    to.request<PackageAnswer>('PUT', `${deliveryPath(APP_ID, newPlace().versionId)}/package`, {
      rawBody,
      ...(signal === undefined ? {} : { signal }),
    });
  const delivers = (to: TestApp): Promise<void> =>
    vi.waitFor(async () => {
      const place = newPlace();
      const good = packageDocument(place.appId, { bpmn: userTaskProcess() });
      expect((await store(to, place, good)).status).toBe(200);
    });

  it.each([
    ['dense files', dense(2)],
    ['files full of errors', faulty(16)],
    ['endless lists', EMPTY_LISTS],
  ])('do not block others while they are checked: %s', async (_what, body) => {
    const to = await start({ 'httpLimits.callerBodyBytes': '0' });
    await delivers(to);
    const checked = new AbortController();
    const answers = Promise.all([deliver(to, body), deliver(to, body)]).finally(() => checked.abort());
    let probes = 0;
    while (!checked.signal.aborted) {
      expect((await to.request('GET', '/livez', { token: null })).status).toBe(200);
      probes += 1;
    }
    for (const { status, body: answer } of await answers) {
      expect(status).toBe(400);
      expect(answer.problems?.[0]).toMatchObject({ severity: 'error' });
    }
    expect(probes).toBeGreaterThan(MIN_PROBES);
  });

  it('are aborted when they take too long, and the next one is checked', async () => {
    const to = await start({ 'packageLimits.timeoutMs': '1000' });
    await delivers(to);
    const { status, body } = await deliver(to, dense(6));

    expect(status).toBe(400);
    expect(body.problems).toEqual([
      expect.objectContaining({ code: 'PACKAGE_TOO_COMPLEX', file: 'application.json', element: null }),
    ]);
    expect(body.problems?.[0]?.message).toContain('took longer than');
    await delivers(to);
  });

  it('are aborted when they use too much memory, and the next one is checked', async () => {
    const to = await start({ 'packageLimits.memoryMb': '64' });
    await delivers(to);
    const { status, body } = await deliver(to, EMPTY_LISTS);

    expect(status).toBe(400);
    expect(body.problems).toEqual([expect.objectContaining({ code: 'PACKAGE_TOO_COMPLEX' })]);
    await delivers(to);
  });

  it.each([
    ['too many wait', 'packageLimits.queue'],
    ['they wait for too long', 'packageLimits.waitMs'],
  ])('are answered 503 when %s, and stored later', async (_when, setting) => {
    const to = await start({ [setting]: '0', 'httpLimits.callerBodyBytes': '0' });
    const body = dense(2);
    await vi.waitFor(async () => {
      const answers = await Promise.all([deliver(to, body), deliver(to, body)]);
      const [checked, refused] = answers.toSorted((one, other) => one.status - other.status);
      expect(checked?.status).toBe(400);
      expect(refused?.status).toBe(503);
      expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(refused?.body.message).toContain('Nothing was stored');
    });
    await delivers(to);
  });

  it('leave the queue when their caller hangs up', async () => {
    const to = await start({ 'packageLimits.waitMs': '600000', 'httpLimits.callerBodyBytes': '0' });
    await delivers(to);
    const run = vi.spyOn(Bulkhead.prototype, 'run');
    const checked = deliver(to, dense(4));
    await expect.poll(() => run.mock.calls.length).toBe(1);
    const [checks] = run.mock.contexts as Bulkhead[];
    const hangUp = new AbortController();
    const gone = deliver(to, dense(1), hangUp.signal);
    await expect.poll(() => checks?.waiting).toBe(1);
    hangUp.abort();
    await expect(gone).rejects.toThrow();
    await expect.poll(() => checks?.waiting).toBe(0);
    // It left the queue while the other package was still being checked.
    expect(checks?.occupied()).toBe(1);
    expect((await checked).status).toBe(400);
  });
});
