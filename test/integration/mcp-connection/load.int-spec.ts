import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  connectionService,
  noAuth,
  serviceAccount,
  stopServices,
} from '../../support/peers/connection-tests.js';
import { startModernPeer } from '../../support/peers/modern.peer.js';

const DEADLINE_MS = 5_000;
const SLACK_MS = 1_000;
const TESTS = 200;
const MEGABYTE = 1_048_576;

describe('200 hostile connection tests at once', () => {
  const service = connectionService({ MCP_TEST_TIMEOUT_MS: String(DEADLINE_MS) });
  const child = fork(fileURLToPath(new URL('../../support/peers/hostile-process.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  });
  let urls: string[] = [];
  beforeAll(async () => {
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
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const startedAt = performance.now();
    const results = await Promise.all(
      Array.from({ length: TESTS }, (_, index) => {
        const url = urls[index % urls.length] ?? '';
        return service.test(index % 3 === 0 ? serviceAccount(url, url) : noAuth(url));
      }),
    );
    const elapsed = performance.now() - startedAt;
    delay.disable();
    clearInterval(timer);
    const causes = new Map<string, number>();
    results.forEach((result) => {
      const cause = 'cause' in result ? result.cause : result.outcome;
      causes.set(cause, (causes.get(cause) ?? 0) + 1);
    });
    console.log(
      `elapsed ${Math.round(elapsed)} ms, loop delay p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms ` +
        `max ${(delay.max / 1e6).toFixed(1)} ms, RSS +${Math.round((peak - before) / MEGABYTE)} MB`,
      Object.fromEntries(causes),
    );
    expect(elapsed).toBeLessThan(DEADLINE_MS + SLACK_MS);
    expect(peak - before).toBeLessThan(150 * MEGABYTE);
    expect(delay.percentile(99) / 1e6).toBeLessThan(50);
    results.forEach((result) => expect(result.latencyMs).toBeLessThan(DEADLINE_MS + SLACK_MS));
  });

  it('leaves the service able to test a good server', async () => {
    const peer = await startModernPeer([{ name: 'a' }]);
    await expect(service.test(noAuth(peer.url))).resolves.toMatchObject({ outcome: 'connected' });
    await peer.close();
  });
});
