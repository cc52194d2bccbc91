import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  after,
  component,
  FakePlatform,
  healthy,
  never,
  refused,
} from '../../../test/support/discovery/fake-platform.js';
import { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/observability/logging/log.js';
import type { ComponentSource } from '../sources/listing.js';
import { SourceError } from '../model/failures.js';
import type { Probes } from '../probes/kinds/probes.js';
import { ScanEngine } from './scan-engine.js';
import type { ScanFindings } from '../model/scan.types.js';
import { limitedEnv } from '../../../test/support/limits/limits.js';

const log = { error: vi.fn() };

function engineOf(
  platform: FakePlatform,
  settings: Record<string, string> = {},
  sources: ComponentSource[] = [platform],
): ScanEngine {
  limitedEnv('maintenance', settings);
  return new ScanEngine(sources, platform as unknown as Probes, new Clock(), log as unknown as Log);
}

const scan = (engine: ScanEngine): Promise<ScanFindings> => engine.scan(new AbortController().signal);

/** Runs a scan on fake timers to its end. */
async function timed(engine: ScanEngine): Promise<ScanFindings> {
  const result = scan(engine);
  await vi.runAllTimersAsync();
  return result;
}

function outcomes({ components }: ScanFindings): Record<string, string> {
  return Object.fromEntries(
    components.map(({ component: { key }, outcome }) => [
      key,
      outcome.status === 'healthy' ? 'healthy' : outcome.failure,
    ]),
  );
}

let platform: FakePlatform;
beforeEach(() => {
  platform = new FakePlatform();
  log.error.mockClear();
});

describe('the deadlines of a scan', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    [200, 16, 2_000, 26_000],
    [200, 200, 2_000, 2_000],
    [17, 16, 500, 1_000],
    [16, 16, 500, 500],
    [1, 16, 100, 100],
    [5, 1, 100, 500],
  ])(
    '%i unresponsive components, %i concurrently, %i ms each, take %i ms',
    async (count, limit, timeoutMs, expected) => {
      Array.from({ length: count }, (_, index) => platform.add(`hole-${index}`, never));
      const findings = await timed(
        engineOf(platform, {
          'discoveryLimits.concurrency': String(limit),
          'discoveryLimits.probeTimeoutMs': String(timeoutMs),
          'discoveryLimits.scanTimeoutMs': '600000',
        }),
      );
      expect(findings.durationMs).toBe(expected);
      expect(new Set(Object.values(outcomes(findings)))).toEqual(new Set(['timeout']));
      expect(findings.components).toHaveLength(count);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('end the remaining checks when the time of the scan is over', async () => {
    Array.from({ length: 10 }, (_, index) => platform.add(`hole-${index}`, never));
    const findings = await timed(
      engineOf(platform, {
        'discoveryLimits.concurrency': '3',
        'discoveryLimits.probeTimeoutMs': '600',
        'discoveryLimits.scanTimeoutMs': '1000',
      }),
    );
    expect(findings.durationMs).toBe(1_000);
    expect(Object.values(outcomes(findings))).toEqual([
      ...Array.from({ length: 3 }, () => 'timeout'),
      ...Array.from({ length: 7 }, () => 'deadline'),
    ]);
    expect(platform.checks).toBe(6);
  });

  it('give a component the timeout that its source sets', async () => {
    platform.add('patient', after(900), { timeoutMs: 1_000 });
    platform.add('hasty', after(900), { timeoutMs: 800 });
    const findings = await timed(engineOf(platform, { 'discoveryLimits.probeTimeoutMs': '100' }));
    expect(outcomes(findings)).toEqual({ hasty: 'timeout', patient: 'healthy' });
    expect(findings.durationMs).toBe(900);
  });

  it('ignore late results and errors', async () => {
    platform.add('late', after(2_500));
    platform.add('later', async () => {
      await after(2_600)({} as never, component('later'));
      throw new Error('nobody listens');
    });
    const findings = await timed(engineOf(platform));
    expect(outcomes(findings)).toEqual({ late: 'timeout', later: 'timeout' });
    expect(findings.durationMs).toBe(2_000);
    expect(log.error).not.toHaveBeenCalled();
  });

  it('apply to sources too; the last known components of a source are checked when it cannot be read', async () => {
    platform.add('known');
    let mode: 'fine' | 'hangs' | 'broken' = 'fine';
    const source: ComponentSource = {
      name: 'consul',
      list: async () => {
        if (mode === 'hangs') {
          return new Promise(() => undefined);
        }
        if (mode === 'broken') {
          throw new SourceError('auth');
        }
        return platform.list();
      },
    };
    const engine = engineOf(platform, { 'discoveryLimits.sourceTimeoutMs': '700' }, [source]);
    expect((await timed(engine)).issues).toEqual([]);
    mode = 'hangs';
    const hung = await timed(engine);
    expect(hung.durationMs).toBe(700);
    expect(hung.issues).toEqual([
      { code: 'source_failed', source: 'consul', failure: 'timeout', detail: null },
    ]);
    expect(outcomes(hung)).toEqual({ known: 'healthy' });
    mode = 'broken';
    expect((await timed(engine)).issues).toMatchObject([{ failure: 'auth' }]);
  });
});

describe('a probe', () => {
  it.each([
    ['throws', 'internal', () => Promise.reject(new Error('secret-canary'))],
    [
      'throws at once',
      'internal',
      () => {
        throw new TypeError('secret-canary');
      },
    ],
    ['throws nothing', 'internal', () => Promise.reject(undefined as unknown as Error)],
    ['knows why', 'refused', refused],
  ] as const)('that %s makes the component unhealthy', async (_name, expected, behaviour) => {
    platform.add('bad', behaviour);
    platform.add('good');
    const findings = await scan(engineOf(platform));
    expect(outcomes(findings)).toEqual({ bad: expected, good: 'healthy' });
    expect(JSON.stringify(findings)).not.toContain('canary');
  });

  it('is aborted and has its connections destroyed in reverse order, even if they throw', async () => {
    const events: string[] = [];
    platform.add('hung', ({ onEnd, signal, timeoutMs }) => {
      expect(timeoutMs).toBe(100);
      signal.addEventListener('abort', () => events.push('abort'));
      onEnd(() => events.push('first'));
      onEnd(() => {
        throw new Error('cannot be closed');
      });
      onEnd(() => events.push('last'));
      return never({} as never, component('hung'));
    });
    await scan(engineOf(platform, { 'discoveryLimits.probeTimeoutMs': '100' }));
    expect(events).toEqual(['abort', 'last', 'first']);
  });

  it.each([
    ['well', healthy()],
    ['badly', refused],
  ])('that ends %s has its connections destroyed without being aborted', async (_name, behaviour) => {
    const destroyed = vi.fn();
    const aborted = vi.fn();
    platform.add('done', (context, checked) => {
      context.signal.addEventListener('abort', aborted);
      context.onEnd(destroyed);
      return behaviour(context, checked);
    });
    await scan(engineOf(platform));
    await vi.waitFor(() => expect(destroyed).toHaveBeenCalledOnce());
    expect(aborted).not.toHaveBeenCalled();
  });

  it('that opens a connection after its end has it destroyed immediately', async () => {
    const destroyed = vi.fn();
    platform.add('late', async ({ onEnd }) => {
      await after(200)({} as never, component('late'));
      onEnd(destroyed);
      return {};
    });
    await scan(engineOf(platform, { 'discoveryLimits.probeTimeoutMs': '100' }));
    await vi.waitFor(() => expect(destroyed).toHaveBeenCalledOnce());
  });

  it('leaves no socket open for 200 servers that accept and never respond', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (let count = 0; count < 200; count += 1) {
      platform.add(`hole-${count}`, ({ onEnd }) => {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined);
        onEnd(() => socket.destroy());
        return new Promise(() => undefined);
      });
    }
    const findings = await scan(
      engineOf(platform, { 'discoveryLimits.concurrency': '50', 'discoveryLimits.probeTimeoutMs': '250' }),
    );
    expect(findings.durationMs).toBeGreaterThanOrEqual(990);
    expect(findings.durationMs).toBeLessThan(1_500 + 2_000);
    await vi.waitFor(() => expect(sockets.size).toBe(0));
    server.close();
  });
});

describe('a scan', () => {
  it('checks components concurrently up to the limit, in the order of keys', async () => {
    let running = 0;
    let most = 0;
    const order: string[] = [];
    for (const key of ['c', 'a', 'b', 'e', 'd']) {
      platform.add(key, async () => {
        order.push(key);
        most = Math.max(most, (running += 1));
        await after(5)({} as never, component(key));
        running -= 1;
        return {};
      });
    }
    await scan(engineOf(platform, { 'discoveryLimits.concurrency': '2' }));
    expect(most).toBe(2);
    expect(order).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('ends when the service stops', async () => {
    platform.add('hung', never);
    const stopped = { code: 'DISCOVERY_STOPPED' };
    const stop = new AbortController();
    const running = engineOf(platform).scan(stop.signal);
    setTimeout(() => stop.abort(), 10);
    await expect(running).rejects.toMatchObject(stopped);
    await expect(engineOf(platform).scan(AbortSignal.abort())).rejects.toMatchObject(stopped);
  });

  it('checks at most the allowed number of components, and reports the rest', async () => {
    ['a', 'b', 'c'].forEach((key) => platform.add(key));
    const findings = await scan(engineOf(platform, { 'discoveryLimits.components': '2' }));
    expect(Object.keys(outcomes(findings))).toEqual(['a', 'b']);
    expect(findings.issues).toEqual([{ code: 'too_many', left: 1, max: 2 }]);
  });
});
