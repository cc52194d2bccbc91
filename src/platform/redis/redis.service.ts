import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Env } from '../config/env.js';
import { Log } from '../observability/logging/log.js';
import { KeyedNames } from '../secrets/keyed-names.js';
import { Metrics } from '../observability/metrics/metrics.js';
import { RedisCircuitBreaker } from './redis-circuit-breaker.js';
import { RedisConnections } from './redis-connections.js';
import { ReplicaSignals } from './replica-signals.js';

/** Interval of attempts to renew a lost or rejected subscription. */
const CHECK_MS = 5_000;
/** Writes a key that expires, in a script as rate limits do. */
const VERIFICATION = "redis.call('SET', KEYS[1], '1', 'PX', 1000)";

/** What replicas share through Redis. */
export interface Shared {
  readonly redis: RedisCircuitBreaker;
  readonly signals: ReplicaSignals;
  /** Returns the Redis key for a name. The name can be neither read from the key nor guessed. */
  readonly keyOf: (kind: string, name: string) => string;
}

/** Access to the Redis that replicas share, if REDIS_URL is set. */
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
      this.shared.redis.registerMetrics(metrics.registry);
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
    const channel = `${prefix}:signals`;
    const client = connections.open('commands');
    // The commands that all features need: a script that writes, and a publication, which is empty so that replicas ignore it.
    const verify = async (): Promise<void> => {
      await client.eval(VERIFICATION, 1, `${prefix}:proof`);
      await client.publish(channel, '');
    };
    const redis = new RedisCircuitBreaker(client, verify, log);
    const signals = new ReplicaSignals(channel, redis, connections.open('waiting'));
    this.checking = setInterval(() => signals.check(), CHECK_MS).unref();
    return { redis, signals, keyOf };
  }
}

@Module({
  providers: [
    {
      provide: RedisService,
      // Small applications have neither a log nor metrics.
      inject: [Env, { token: Log, optional: true }, { token: Metrics, optional: true }],
      useFactory: async (env: Env, log?: Log, metrics?: Metrics) =>
        new RedisService(env, await RedisConnections.load(env, log), log, metrics),
    },
  ],
  exports: [RedisService],
})
export class RedisModule {}
