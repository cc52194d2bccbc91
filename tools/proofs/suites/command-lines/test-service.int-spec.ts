import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../../packages/client/src/index.js';
import {
  startTestService,
  type RestStub,
  type TestApplication,
  type TestInstance,
  type TestService,
} from '../../../../packages/client/src/testing/index.js';
import { COUNTED, HOURLY, quotesFolder } from './quotes.js';

const ORDER = { article: 'chair', pieces: 4 };

/** The harness for application tests; `sample/tests` tests a complete application. */
describe('the test service', () => {
  let service: TestService;
  let prices: RestStub;
  let folder: string;
  let quotes: TestApplication;
  beforeAll(async () => {
    service = await startTestService();
    folder = await quotesFolder({ 'processes/counted.bpmn': COUNTED });
    prices = await service.restStub({});
    quotes = await service.deliver(folder, { systems: { prices } });
  });
  afterAll(async () => {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    prices.forget();
    prices.on('POST /quotes/:article', { body: { price: 12.5 } });
  });

  const startQuote = (): Promise<TestInstance> => quotes.start('quote', ORDER);
  const messageOf = (work: () => Promise<unknown> | void): Promise<string> =>
    Promise.resolve()
      .then(work)
      .then(
        () => 'no error',
        (error: unknown) => {
          expect(error).toMatchObject({ code: 'ERR_ASSERTION' });
          return (error as Error).message;
        },
      );

  it('answers REST calls by route, and reports the calls received', async () => {
    const quote = await startQuote();
    await quote.isAt('confirm');
    await quote.hasData({ quote: { price: 12.5 } });
    prices.wasCalled('POST /quotes/:article', { body: { pieces: 4 }, params: { article: 'chair' } });
    prices.wasNotCalled('GET /quotes/:article');
    expect(await messageOf(() => prices.wasCalled('POST /quotes/table'))).toBe(
      'Expected a call of POST /quotes/table.\n  POST /quotes/chair { query: {}, body: { pieces: 4 } }',
    );
    expect(await messageOf(() => prices.wasCalled('POST /quotes/chair', { body: { pieces: 5 } }))).toContain(
      'Expected a call of POST /quotes/chair with { body: { pieces: 5 } }.',
    );
    expect(await messageOf(() => prices.wasNotCalled('POST /quotes/:article'))).toContain(
      'Expected no call of POST /quotes/:article.',
    );
  });

  it('counts executions of an action per visit, and goes back to it immediately', async () => {
    const counted = await quotes.start('counted', { enough: false });
    const added = async (): Promise<number> =>
      (await counted.history()).filter(
        ({ kind, data }) => kind === 'ACTION_EXECUTED' && data?.['name'] === 'add',
      ).length;
    for (let time = 1; time <= 3; time += 1) {
      await counted.act('add', { enough: false });
    }
    expect(await added()).toBe(3);
    await counted.act('add', { enough: true });
    await counted.isAt('check');
    await counted.act('add', { enough: true });
    await counted.isAt('count');
    expect(await added()).toBe(4);
  });

  it('stops a process when a system fails, and continues it with a retry', async () => {
    prices.on('POST /quotes/:article', () => ({ status: 503, body: { reason: 'closed' } }));
    const quote = await startQuote();
    await quote.hasIncident('REST_STATUS', 'ask');
    expect(await messageOf(() => quote.hasIncident('REST_STATUS', 'confirm'))).toContain('at confirm');
    await quote.hasIncident();
    expect(await messageOf(() => quote.hasIncident('REST_CALL_FAILED'))).toContain(
      'Expected the instance of quote to have the incident REST_CALL_FAILED.\n  It is STARTED at ask.\n  Incident WORKFLOW at ask:',
    );
    expect(await messageOf(() => quote.hasNoIncident())).toContain('to have no incident.');
    prices.on('POST /quotes/:article', { body: { price: 1 } });
    await quote.retry({ data: { pieces: 9 } });
    await quote.hasData({ article: 'chair', pieces: 9 });
    await quote.hasNoIncident();
    await quote.isAt('confirm');
  });

  it('attributes an incident to the failure of its own run, not to that of an earlier one', async () => {
    prices.on('POST /quotes/:article', () => ({ status: 503, body: {} }));
    const quote = await startQuote();
    await quote.hasIncident('REST_STATUS');
    prices.on('POST /quotes/:article', { headers: { 'content-type': 'image/png' }, body: 'no price' });
    await quote.retry();
    await quote.hasIncident('REST_RESPONSE_INVALID', 'ask');
    expect(await messageOf(() => quote.hasIncident('REST_STATUS'))).toContain(
      'to have the incident REST_STATUS',
    );
  });

  it('fires timers at their due time, and only when the clock is advanced', async () => {
    const quote = await startQuote();
    const began = (await service.now()).getTime();
    await service.advance('P1DT23H59M');
    await quote.isAt('confirm');
    // Two days, followed by three days.
    await service.advance('P3D');
    await quote.isAt('wait');
    await service.advance('PT1M');
    await quote.hasEnded();
    const { endedAt } = await quote.read();
    expect(new Date(endedAt ?? '').getTime() - began).toBe(5 * 86_400_000);
    await service.advanceTo('2030-03-01T00:00:00Z');
    expect(await service.now()).toEqual(new Date('2030-03-01T00:00:00Z'));
  });

  it('starts processes by timer cycles', async () => {
    const hourly = await quotesFolder({
      'application.json': JSON.stringify({ formatVersion: 1, appId: 'hours', name: 'Hours' }),
      'processes/hourly.bpmn': HOURLY,
    });
    const hours = await service.deliver(hourly);
    await service.advance('PT59M');
    expect(await hours.instances('hourly')).toHaveLength(0);
    await service.advance('PT1M');
    expect(await hours.instances('hourly')).toHaveLength(1);
    await service.advance('P1D');
    const [newest, ...earlier] = await hours.instances('hourly');
    expect(earlier).toHaveLength(2);
    await newest?.hasEnded();
    await rm(hourly, { recursive: true, force: true });
  });

  it('reports the position and data of an instance that does not match the expectation', async () => {
    const quote = await startQuote();
    expect(await messageOf(() => quote.isAt('lapsed'))).toBe(
      "Expected the instance of quote to be at lapsed.\n  It is STARTED at confirm.\n  Data: { article: 'chair', pieces: 4, quote: { price: 12.5 } }",
    );
    expect(await messageOf(() => quote.isAt())).toContain('to be only at ');
    expect(await messageOf(() => quote.hasEnded())).toContain('to have ended as FINISHED.');
    expect(await messageOf(() => quote.hasData({ quote: { price: 13 } }))).toContain(
      'to have the data { quote: { price: 13 } }.',
    );
    expect(await messageOf(() => quote.hasPassed('lapsed'))).toContain('to have passed lapsed.');
    expect(await messageOf(() => quote.act('refuse'))).toContain(
      'Expected the UI action refuse to be open.\n  It is STARTED at confirm.',
    );
    // Test runners show only the message.
    const refused: unknown = await quote.act('done', { other: true }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ServiceError);
    expect(refused).toMatchObject({ message: expect.stringMatching(/^400: .+ \(.*other.*\)$/s) as string });
    await quote.act('done', { confirmed: true });
    await quote.hasEnded();
    await quote.hasPassed('confirm');
  });

  it('makes systems without a stub unreachable', async () => {
    const alone = await service.deliver(folder);
    const quote = await alone.start('quote', ORDER);
    await quote.hasIncident('REST_CALL_FAILED');
  });

  it('reports problems of a package, and an unknown system', async () => {
    const broken = await quotesFolder({ 'processes/quote.bpmn': '<no-bpmn/>' });
    await expect(service.deliver(broken)).rejects.toThrow(
      /^The package was rejected\.\nprocesses\/quote\.bpmn: /,
    );
    await expect(service.deliver(folder, { systems: { rates: prices } })).rejects.toThrow(
      'has no system rates.',
    );
    await rm(broken, { recursive: true, force: true });
  });

  it('calls as another caller', async () => {
    const quote = await startQuote();
    const unprivileged = service.clientOf('john.smith', []);
    const path = { uuid: quote.uuid };
    await expect(unprivileged.getProcessInstance({ path })).rejects.toMatchObject({ status: 403 });
  });

  it('leaves no files behind', async () => {
    const other = await mkdtemp(`${tmpdir()}/svc-tmp-`);
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = other;
    try {
      const second = await startTestService({ startAt: '2020-02-29T00:00:00Z' });
      expect(await second.now()).toEqual(new Date('2020-02-29T00:00:00Z'));
      await (await second.deliver(folder)).start('quote', ORDER);
      await second.stop();
      expect(await readdir(other)).toEqual([]);
    } finally {
      process.env['TMPDIR'] = before ?? '/tmp';
      await rm(other, { recursive: true, force: true });
    }
  });

  it('reports what is missing when there is no service', async () => {
    const home = process.env['SVC_HOME'];
    delete process.env['SVC_HOME'];
    await expect(startTestService()).rejects.toThrow('Set SVC_HOME');
    process.env['SVC_HOME'] = home;
    await expect(startTestService({ home: tmpdir() })).rejects.toThrow('There is no built service in');
    await expect(startTestService({ settings: { PORT: 'x' } })).rejects.toThrow(/did not start:\n.*PORT/s);
  });
});

describe('a service that hangs', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-hanging-'));
  });
  afterEach(() => {
    vi.useRealTimers();
    return rm(home, { recursive: true, force: true });
  });

  /** Creates a fake service that runs these lines. */
  const serviceOf = async (...lines: string[]): Promise<string> => {
    const folder = join(home, 'dist/src/evaluation');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'main.js'), lines.join('\n'));
    return home;
  };
  const HANGS = 'setInterval(() => {}, 1000);';

  it('before it listens makes the test fail', async () => {
    const hanging = await serviceOf(HANGS);
    await expect(startTestService({ home: hanging, timeoutMs: 1 })).rejects.toThrow(
      /^The service did not start within 1 milliseconds:/,
    );
  });

  it('during shutdown is killed', async () => {
    const hanging = await serviceOf(
      "const { writeFileSync } = require('node:fs');",
      "process.on('SIGTERM', () => {});",
      "writeFileSync(`${process.env.DATA_DIR}/evaluation.json`, JSON.stringify({ socket: '', pid: process.pid }));",
      "writeFileSync('pid', String(process.pid));",
      "console.log('API documentation http://127.0.0.1:9/docs');",
      HANGS,
    );
    const service = await startTestService({ home: hanging, timeoutMs: 60_000 });
    const pid = Number(await readFile(join(home, 'pid'), 'utf8'));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stopping = service.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    await stopping;
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
