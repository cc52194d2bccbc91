import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, describe, expect, it, vi } from 'vitest';

import { Env } from '../../../../src/platform/config/env.js';
import {
  connectionTestPool,
  McpConnectionService,
} from '../../../../src/systems/mcp-connection/mcp-connection.service.js';
import type { McpWorkerSettings } from '../../../../src/systems/mcp-connection/model/worker-settings.js';
import { IN_TIME_MS, PATIENCE_MS } from '../../../../test/support/patience.js';
import { connectionService, noAuth, stopServices } from '../../../../test/support/peers/mcp-services.js';
import { startModernPeer } from '../../../../test/support/peers/official.peers.js';
import { neverAnswers } from '../../../../test/support/peers/pathologies.js';
import { keptPeers } from '../../../../test/support/peers/kept-peers.js';
import { startHttpPeer } from '../../../../test/support/peers/peer.js';
import { startScriptedMcp } from '../../../../test/support/peers/scripted-mcp.peer.js';
import { limitedEnv } from '../../../../test/support/limits/limits.js';

const keep = keptPeers();

afterAll(stopServices);

describe('connectionTestPool', () => {
  const entry = fileURLToPath(new URL('./stalling.worker.mjs', import.meta.url));
  const start = (settings = {} as McpWorkerSettings) =>
    connectionTestPool(settings, { memoryMb: 64, niceness: 0, entry });
  const DEADLINE_MS = 1_500;

  it('kills a stalled worker, answers all of its jobs and continues with a new one', async () => {
    const pool = start();
    const results = await Promise.all([
      pool.run(noAuth('http://stall'), DEADLINE_MS),
      pool.run(noAuth('http://answer'), DEADLINE_MS),
    ]);
    expect(results).toMatchObject([{ cause: 'timeout' }, { cause: 'overloaded' }]);
    expect(results[0]?.latencyMs).toBeLessThan(IN_TIME_MS);
    await expect(pool.run(noAuth('http://answer'), DEADLINE_MS)).resolves.toMatchObject({ cause: 'refused' });
    await pool.close();
  });

  it('permits a worker to start more slowly than the job deadline', async () => {
    const pool = start({ startMs: 4_000 } as unknown as McpWorkerSettings);
    await expect(pool.run(noAuth('http://answer'), DEADLINE_MS)).resolves.toMatchObject({ cause: 'timeout' });
    // A second worker would not be ready before this one times out.
    await expect(pool.run(noAuth('http://answer'), DEADLINE_MS)).resolves.toMatchObject({ cause: 'refused' });
    await pool.close();
  });

  it('answers the jobs of a worker that dies', async () => {
    const pool = start();
    await expect(pool.run(noAuth('http://exit'), DEADLINE_MS)).resolves.toMatchObject({
      outcome: 'unreachable',
      cause: 'overloaded',
    });
    await expect(pool.run(noAuth('http://answer'), DEADLINE_MS)).resolves.toMatchObject({ cause: 'refused' });
    await pool.close();
  });

  it('waits for running jobs on close and accepts no new ones', async () => {
    const pool = start();
    const silent = pool.run(noAuth('http://silent'), DEADLINE_MS);
    const closed = pool.close();
    await expect(pool.run(noAuth('http://answer'), DEADLINE_MS)).resolves.toMatchObject({
      cause: 'stopping',
    });
    await closed;
    await expect(silent).resolves.toMatchObject({ cause: 'timeout' });
  });
});

describe('McpConnectionService', () => {
  it('survives a response that exceeds the memory of the worker', async () => {
    const service = connectionService({
      'mcpLimits.workerMemoryMb': '40',
      'mcpLimits.testTimeoutMs': '2000',
      'mcpLimits.maxResponseBytes': '4194304',
      // Permits reading the densest possible response.
      'mcpLimits.maxTotalBytes': '268435456',
    });
    const greedy = await keep(
      startScriptedMcp({
        list: ({ id, response }) => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(
            `{"jsonrpc":"2.0","id":${Number(id)},"result":{"tools":[${'{},'.repeat(1_390_000)}{}]}}`,
          );
        },
      }),
    );
    const good = await keep(startModernPeer([{ name: 'a' }]));
    // Either out of memory immediately, or garbage collection until it is killed.
    const result = await service.test(noAuth(greedy.url));
    expect(['overloaded', 'timeout']).toContain('cause' in result && result.cause);
    const recovered = async () =>
      expect(await service.test(noAuth(good.url))).toMatchObject({ outcome: 'connected' });
    await vi.waitFor(recovered);
  });

  it('finishes running tests when it stops', async () => {
    const service = connectionService({ 'mcpLimits.testTimeoutMs': '700' });
    const peer = await keep(startHttpPeer(neverAnswers));
    const test = service.test(noAuth(peer.url));
    await vi.waitFor(() => expect(peer.openSockets()).toBe(1));
    await service.onModuleDestroy();
    await expect(test).resolves.toMatchObject({ cause: 'timeout' });
  });

  it('does not keep a process alive', async () => {
    const built = new URL('../../../../dist/src/', import.meta.url).href;
    const program = `
      const { McpConnectionService } = await import('${built}systems/mcp-connection/mcp-connection.service.js');
      const { Env } = await import('${built}platform/config/env.js');
      const { mcpLimits } = await import('${built}systems/mcp-connection/mcp.limits.js');
      mcpLimits.testTimeoutMs = 60_000;
      const service = new McpConnectionService(Env.parse('evaluation', {}));
      const request = { baseUrl: 'http://127.0.0.1:49151/', credentials: { type: 'NO_AUTH' }, knownToolCount: 0 };
      console.log((await service.test(request)).cause);`;
    const options = { timeout: PATIENCE_MS };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', program],
      options,
    );
    expect(stdout).toBe('refused\n');
  });

  it('blocks loopback in production unless EGRESS_ALLOW lists it', async () => {
    const peer = await keep(startModernPeer([{ name: 'a' }]));
    const byName = peer.url.replace('127.0.0.1', 'localhost');
    const port = new URL(peer.url).port;
    await expect(outcome('', peer.url)).resolves.toBe('blocked');
    await expect(outcome('', byName)).resolves.toBe('blocked');
    await expect(outcome(`127.0.0.1:${port}`, peer.url)).resolves.toBe('connected');
    await expect(outcome('127.0.0.1:1', peer.url)).resolves.toBe('blocked');
    await expect(outcome('localhost', byName)).resolves.toBe('connected');
    await expect(outcome('localhost', peer.url)).resolves.toBe('blocked');
  });

  it('does not start with an invalid EGRESS_ALLOW', () => {
    expect(() => new McpConnectionService(production({ EGRESS_ALLOW: '10.0.0.0/33' }))).toThrow(
      'EGRESS_ALLOW must list CIDRs',
    );
  });
});

function production(settings: Record<string, string>): Env {
  return limitedEnv('production', {
    DATABASE_URL: 'mysql://user@db.example/x',
    OIDC_ISSUER: 'https://sso.example',
    OIDC_AUDIENCE: 'x',
    OUTBOUND_HTTP: 'allow',
    'mcpLimits.testTimeoutMs': String(PATIENCE_MS),
    SECRETS_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
    ...settings,
  });
}

async function outcome(allow: string, url: string): Promise<string> {
  const service = new McpConnectionService(production({ EGRESS_ALLOW: allow }));
  const result = await service.test(noAuth(url));
  await service.onModuleDestroy();
  return 'cause' in result ? result.cause : result.outcome;
}
