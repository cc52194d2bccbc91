import { randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Env } from '../../config/env.js';
import type { Log } from '../logging/log.js';
import { KeyedNames } from '../secrets/keyed-names.js';
import type { Metrics } from '../metrics/metrics.js';
import { RedisAnswers } from './redis-answers.js';
import type { RedisClient, RedisConnections } from './redis-connections.js';
import { showAnswers } from './redis-metrics.js';
import { ReplicaSignals } from './replica-signals.js';
import { redisLimits } from './redis.limits.js';

/** How often a subscription that was refused is asked for again. */
const CHECK_MS = 5_000;
/** A key that ends by itself, written as counts are. */
const PROOF = "redis.call('SET', KEYS[1], '1', 'PX', 1000)";
const USE = {
  name: 'svc_redis_shared',
  does: 'lets replicas count together and tell each other',
  otherwise: 'goes on by itself',
};

/** What replicas share in Redis. */
export interface Shared {
  readonly redis: RedisAnswers;
  readonly signals: ReplicaSignals;
  /** The key of a thing in Redis. Neither the name nor whom it names can be read or guessed from it. */
  readonly keyOf: (kind: string, name: string) => string;
}

/** The Redis that replicas share, where REDIS_URL names one. */
@Injectable()
export class RedisService implements OnApplicationShutdown {
  /** Undefined without REDIS_URL. */
  readonly shared: Shared | undefined;
  private checking: NodeJS.Timeout | undefined;

  /** @param connections undefined without REDIS_URL */
  constructor(
    env: Env,
    private readonly connections: RedisConnections | undefined,
    log?: Log,
    metrics?: Metrics,
  ) {
    this.shared = connections && this.share(env, connections, log);
    if (this.shared !== undefined && metrics !== undefined) {
      showAnswers(metrics.registry, USE, this.shared.redis);
    }
  }

  onApplicationShutdown(): void {
    clearInterval(this.checking);
    this.shared?.redis.close();
    this.connections?.close();
  }

  private share(env: Env, connections: RedisConnections, log: Log | undefined): Shared {
    const prefix = env.get('REDIS_KEY_PREFIX');
    const names = new KeyedNames(env.get('SECRETS_KEYS'));
    const keyOf = (kind: string, name: string): string => `${prefix}:${kind}:${names.of(name)}`;
    const replica = randomUUID();
    const channel = `${prefix}:signals`;
    const client = connections.open('commands');
    const redis = new RedisAnswers(client, {
      timeoutMs: redisLimits.timeoutMs,
      prove: () => provesSharing(client, { key: `${prefix}:proof`, channel }),
      log,
      refuses: 'redis shares nothing: this replica goes on by itself',
      doesAgain: 'redis shares again',
    });
    const signals = new ReplicaSignals(channel, replica, redis, connections.open('waiting'));
    this.checking = setInterval(() => signals.check(), CHECK_MS).unref();
    return { redis, signals, keyOf };
  }
}

/** Has Redis do what all that is shared needs: run a script that writes, and tell the others, who do not listen to an empty message. */
async function provesSharing(
  client: RedisClient,
  { key, channel }: { key: string; channel: string },
): Promise<void> {
  await client.eval(PROOF, 1, key);
  await client.publish(channel, '');
}
