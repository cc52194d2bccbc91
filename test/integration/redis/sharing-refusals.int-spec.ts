import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { Log } from '../../../src/common/logging/log.js';
import { tryStart } from '../../support/discovery/local-server.js';
import { redisCli, startRedis, type ProbedServer } from '../../support/discovery/servers.js';
import { SharingReplica } from './sharing-replica.js';

const { server: started, missing } = await tryStart(() => startRedis());
if (missing !== undefined) {
  console.log(`tests of a Redis that refuses to share: skipped, ${missing}`);
}

describe.skipIf(started === undefined)('what replicas share, with a Redis that refuses', () => {
  const server = started as ProbedServer;
  const replicas: SharingReplica[] = [];

  afterEach(async () => {
    vi.restoreAllMocks();
    replicas.splice(0).forEach((replica) => replica.stop());
    await redisCli(server.port, 'flushall');
  });
  afterAll(() => server.server.stop());

  const start = async (settings: Record<string, string> = {}): Promise<SharingReplica> => {
    const replica = await SharingReplica.start(`redis://default:admin@127.0.0.1:${server.port}`, settings);
    replicas.push(replica);
    return replica;
  };

  it.each([
    ['memory', 'OOM', ['config', 'set', 'maxmemory', '1'], ['config', 'set', 'maxmemory', '64mb']],
    [
      'the right to scripts',
      'NOPERM',
      ['acl', 'setuser', 'default', '-eval'],
      ['acl', 'setuser', 'default', '+@all'],
    ],
    [
      'the right to the channel',
      'NOPERM',
      ['acl', 'setuser', 'default', 'resetchannels'],
      ['acl', 'setuser', 'default', '&*'],
    ],
    [
      'a replica',
      'NOREPLICAS',
      ['config', 'set', 'min-replicas-to-write', '1'],
      ['config', 'set', 'min-replicas-to-write', '0'],
    ],
  ])('stands for each of them alone while it lacks %s', async (_what, code, breakIt, mend) => {
    const warn = vi.spyOn(Log.prototype, 'warn');
    const [one, other] = [await start(), await start()];
    expect(await one.shared.slots.take('slot', 1)).toBe(true);
    expect(await other.shared.slots.take('slot', 1)).toBe(false);
    await redisCli(server.port, ...breakIt);
    try {
      // The first one that asks is answered an error; whoever comes next asks nobody.
      for (const [index, replica] of [one, other].entries()) {
        replica.shared.signals.tell('scan', 'any');
        expect(await replica.shared.slots.take(`alone ${index}`, 1)).toBe(true);
        await replica.sharing(false);
      }
      expect(await other.shared.slots.take('slot', 1)).toBe(true);
      expect(warn).toHaveBeenCalledWith('redis shares nothing: this replica goes on by itself', {
        errorCode: code,
      });
      const text = await one.metrics.registry.metrics();
      expect(text).toContain('svc_redis_shared_in_use 0');
      expect(text).toMatch(new RegExp(`svc_redis_shared_failures_total\\{code="${code}"\\} [1-9]`));
      other.shared.slots.leave('slot');
    } finally {
      await redisCli(server.port, ...mend);
    }
    await Promise.all([one.sharing(), other.sharing()]);
    expect(await one.metrics.registry.metrics()).toContain('svc_redis_shared_in_use 1');
    await vi.waitFor(async () => expect(await other.shared.slots.take('slot', 1)).toBe(false));
    const heard: string[] = [];
    other.shared.signals.listen('instance', (items) => heard.push(...items));
    await vi.waitFor(() => {
      one.shared.signals.tell('instance', 'again');
      expect(heard).toContain('again');
    });
  });

  it('is waited for once when it says nothing', async () => {
    const replica = await start({ REDIS_TIMEOUT_MS: '200' });
    await redisCli(server.port, 'client', 'pause', '3000', 'all');
    expect(await replica.shared.slots.take('slot', 1)).toBe(true);
    expect(replica.shared.redis.isReady).toBe(false);
    const ask = vi.fn(() => Promise.resolve(undefined));
    await expect(replica.shared.redis.ask(ask)).rejects.toThrow('redis is away');
    expect(ask).not.toHaveBeenCalled();
    await replica.sharing();
  });
});
