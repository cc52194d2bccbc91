import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  connectionService,
  noAuth,
  serviceAccount,
  stopServices,
} from '../../../../test/support/peers/mcp-services.js';
import { startModernPeer } from '../../../../test/support/peers/official.peers.js';
import { IN_TIME_MS } from '../../../../test/support/patience.js';

const DEADLINE_MS = 5_000;
const TESTS = 200;
const MEGABYTE = 1_048_576;
const TICK_MS = 5;

/** Returns the milliseconds that this thread has waited for a processor; 0 if the system does not report it. */
function waitedMs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** Measures the delay of timers caused by this thread's own work. Returns a function that stops and returns the results. */
function measureTimerDelays(): () => { p99: number; max: number } {
  const late: number[] = [];
  let [before, waited] = [performance.now(), waitedMs()];
  const timer = setInterval(() => {
    const [now, waitedNow] = [performance.now(), waitedMs()];
    late.push(now - before - TICK_MS - (waitedNow - waited));
    [before, waited] = [now, waitedNow];
  }, TICK_MS);
  return () => {
    clearInterval(timer);
    const sorted = late.toSorted((a, b) => a - b);
    return { p99: sorted[Math.floor(0.99 * sorted.length)] ?? Infinity, max: sorted.at(-1) ?? Infinity };
  };
}

describe('200 concurrent hostile connection tests', () => {
  const service = connectionService({ 'mcpLimits.testTimeoutMs': String(DEADLINE_MS) });
  let child: ChildProcess;
  let urls: string[] = [];
  beforeAll(async () => {
    child = fork(fileURLToPath(new URL('./hostile-process.ts', import.meta.url)), {
      execArgv: ['--import', 'tsx'],
    });
    urls = await new Promise((resolve) => child.once('message', (message) => resolve(message as string[])));
    const peer = await startModernPeer([{ name: 'a' }]);
    await service.test(noAuth(peer.url));
    await peer.close();
  });
  afterAll(async () => {
    child.kill('SIGKILL');
    await stopServices();
  });

  it('all end in time, stall nothing on this thread and stay within bounded memory', async () => {
    const before = process.memoryUsage.rss();
    let peak = before;
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20);
    const stopMeasuring = measureTimerDelays();
    const startedAt = performance.now();
    const results = await Promise.all(
      Array.from({ length: TESTS }, (_, index) => {
        const url = urls[index % urls.length] ?? '';
        return service.test(index % 3 === 0 ? serviceAccount(url, url) : noAuth(url));
      }),
    );
    const elapsed = performance.now() - startedAt;
    const lateness = stopMeasuring();
    clearInterval(timer);
    const causes = new Map<string, number>();
    results.forEach((result) => {
      const cause = 'cause' in result ? result.cause : result.outcome;
      causes.set(cause, (causes.get(cause) ?? 0) + 1);
    });
    console.log(
      `elapsed ${Math.round(elapsed)} ms, loop delay p99 ${lateness.p99.toFixed(1)} ms ` +
        `max ${lateness.max.toFixed(1)} ms, RSS +${Math.round((peak - before) / MEGABYTE)} MB`,
      Object.fromEntries(causes),
    );
    expect(elapsed).toBeLessThan(IN_TIME_MS);
    expect(peak - before).toBeLessThan(150 * MEGABYTE);
    expect(lateness.p99).toBeLessThan(50);
    results.forEach((result) => expect(result.latencyMs).toBeLessThan(IN_TIME_MS));
  });

  it('leaves the service able to test a good server', async () => {
    const peer = await startModernPeer([{ name: 'a' }]);
    await expect(service.test(noAuth(peer.url))).resolves.toMatchObject({ outcome: 'connected' });
    await peer.close();
  });
});
