import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { configuredOutbound, outboundClient } from '../../../src/common/outbound/configured-outbound.js';
import { RedisConnections } from '../../../src/common/redis/redis-connections.js';
import { RedisService } from '../../../src/common/redis/redis.service.js';
import { SecretCipher } from '../../../src/common/secrets/secret-cipher.js';
import { Env } from '../../../src/config/env.js';
import { ServiceAccountTokensService } from '../../../src/modules/mcp-connection/service-account-tokens.service.js';
import { tryStart } from '../../support/discovery/local-server.js';
import { redisCli, startRedis, type ProbedServer } from '../../support/discovery/servers.js';
import { startTokenPeer, type TokenPeer } from '../../support/peers/token.peer.js';

const LIMITS = { deadlineMs: 10_000, maxResponseBytes: 65_536, maxTotalBytes: 65_536 };
const { server: started, missing } = await tryStart(() => startRedis());
if (missing !== undefined) {
  console.log(`tests of access tokens that replicas share: skipped, ${missing}`);
}

describe.skipIf(started === undefined)('access tokens of several replicas, with Redis', () => {
  const redis = started as ProbedServer;
  const services: RedisService[] = [];
  let peer: TokenPeer;

  beforeEach(async () => {
    peer = await startTokenPeer();
    await redisCli(redis.port, 'flushall');
  });
  afterEach(async () => {
    services.splice(0).forEach((service) => service.onApplicationShutdown());
    await peer.close();
  });
  afterAll(async () => {
    await started?.server.stop();
  });

  /** A replica, as a function that asks for the token. */
  const replica = async (): Promise<{ get(): Promise<string>; refuse(token: string): void }> => {
    const env = Env.parse('evaluation', {
      REDIS_URL: `redis://default:admin@127.0.0.1:${redis.port}`,
      SECRETS_KEYS: `k:${Buffer.alloc(32, 1).toString('base64')}`,
    });
    const service = new RedisService(env, await RedisConnections.load(env));
    services.push(service);
    await vi.waitFor(() => expect(service.shared?.redis.isReady).toBe(true));
    const cipher = new SecretCipher(env.get('SECRETS_KEYS'));
    const tokens = new ServiceAccountTokensService(env, undefined, service, cipher);
    const outbound = outboundClient(configuredOutbound(env));
    const request = {
      tokenUrl: peer.url,
      clientId: 'client',
      clientSecret: 'secret',
      resource: 'https://mcp.example.com',
      tls: undefined,
    };
    return {
      get: async () => {
        const waiter = outbound.open(LIMITS);
        try {
          return await tokens.get(request, waiter);
        } finally {
          await waiter.close();
        }
      },
      refuse: (token) => tokens.drop(request, token),
    };
  };
  const kept = async (): Promise<string> => {
    const key = await redisCli(redis.port, 'keys', 'svc:token:*');
    return key === '' ? '' : redisCli(redis.port, 'get', key);
  };

  it('are asked for once, and are sealed in Redis', async () => {
    const [one, other] = [await replica(), await replica()];
    expect(await one.get()).toBe('token-1');
    await vi.waitFor(async () => expect(await kept()).toMatch(/^svc1\.k\./));
    expect(await kept()).not.toContain('token-1');
    expect(await other.get()).toBe('token-1');
    expect(peer.requests).toHaveLength(1);
  });

  it('are asked for again by all when one was refused', async () => {
    const [one, other] = [await replica(), await replica()];
    await one.get();
    await vi.waitFor(async () => expect(await kept()).not.toBe(''));
    const before = await kept();
    one.refuse('token-1');
    expect(await one.get()).toBe('token-2');
    await vi.waitFor(async () => expect(['', before]).not.toContain(await kept()));
    expect(await other.get()).toBe('token-2');
    expect(peer.requests).toHaveLength(2);
  });

  it('are asked for by each replica when what Redis has cannot be opened, or Redis is away', async () => {
    const [one, other] = [await replica(), await replica()];
    await one.get();
    await vi.waitFor(async () => expect(await kept()).not.toBe(''));
    const key = await redisCli(redis.port, 'keys', 'svc:token:*');
    await redisCli(redis.port, 'set', key, 'svc1.k.AAAA.AAAA.AAAA');
    expect(await other.get()).toBe('token-2');
    await redis.server.kill();
    one.refuse('token-1');
    expect(await one.get()).toBe('token-3');
    await redis.server.restart();
  });
});
