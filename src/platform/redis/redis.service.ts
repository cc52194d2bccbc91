import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Env } from '../config/env.js';
import { Log } from '../observability/logging/log.js';
import { KeyedNames } from '../secrets/keyed-names.js';
import { Metrics } from '../observability/metrics/metrics.js';
import { RedisAnswers } from './redis-answers.js';
import { RedisConnections } from './redis-connections.js';
import { ReplicaSignals } from './replica-signals.js';

/** How often a subscription that was refused is asked for again. */
const CHECK_MS = 5_000;
/** A key that ends by itself, written as counts are. */
const PROOF = "redis.call('SET', KEYS[1], '1', 'PX', 1000)";
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
      this.shared.redis.showIn(metrics.registry);
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
    // What all that is shared needs: run a script that writes, and tell the others, who do not listen to an empty message.
    const prove = async (): Promise<void> => {
      await client.eval(PROOF, 1, `${prefix}:proof`);
      await client.publish(channel, '');
    };
    const redis = new RedisAnswers(client, prove, log);
    const signals = new ReplicaSignals(channel, redis, connections.open('waiting'));
    this.checking = setInterval(() => signals.check(), CHECK_MS).unref();
    return { redis, signals, keyOf };
  }
}

/** The Redis that replicas share; optional. */
@Module({
  providers: [
    {
      provide: RedisService,
      // Small applications have no log and no metrics.
      inject: [Env, { token: Log, optional: true }, { token: Metrics, optional: true }],
      useFactory: async (env: Env, log?: Log, metrics?: Metrics) =>
        new RedisService(env, await RedisConnections.load(env, log), log, metrics),
    },
  ],
  exports: [RedisService],
})
export class RedisModule {}
