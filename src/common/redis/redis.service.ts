import { randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Env } from '../../config/env.js';
import type { Log } from '../logging/log.js';
import { KeyedNames } from '../secrets/keyed-names.js';
import { RedisAnswers } from './redis-answers.js';
import type { RedisConnections } from './redis-connections.js';
import { ReplicaSignals } from './replica-signals.js';
import { SharedSlots } from './shared-slots.js';

/** Renewals of a lease before it would end. */
const RENEWALS = 3;

/** What replicas share in Redis. */
export interface Shared {
  readonly redis: RedisAnswers;
  readonly signals: ReplicaSignals;
  readonly slots: SharedSlots;
  /** The key of a thing in Redis. Neither the name nor whom it names can be read or guessed from it. */
  readonly keyOf: (kind: string, name: string) => string;
}

/** The Redis that replicas share, where REDIS_URL names one. */
@Injectable()
export class RedisService implements OnApplicationShutdown {
  /** Undefined without REDIS_URL. */
  readonly shared: Shared | undefined;
  private renewing: NodeJS.Timeout | undefined;

  /** @param connections undefined without REDIS_URL */
  constructor(
    env: Env,
    readonly connections: RedisConnections | undefined,
    log?: Log,
  ) {
    this.shared = connections && this.share(env, connections, log);
  }

  onApplicationShutdown(): void {
    clearInterval(this.renewing);
    this.connections?.close();
  }

  private share(env: Env, connections: RedisConnections, log: Log | undefined): Shared {
    const prefix = env.get('REDIS_KEY_PREFIX');
    const leaseMs = env.get('REDIS_LEASE_MS');
    const names = new KeyedNames(env.get('SECRETS_KEYS'));
    const keyOf = (kind: string, name: string): string => `${prefix}:${kind}:${names.of(name)}`;
    const replica = randomUUID();
    const redis = new RedisAnswers(connections.open('commands'), env.get('REDIS_TIMEOUT_MS'), log);
    const signals = new ReplicaSignals(`${prefix}:signals`, replica, redis, connections.open('waiting'));
    const slots = new SharedSlots((name) => keyOf('slots', name), replica, leaseMs, redis, signals);
    this.renewing = setInterval(() => {
      signals.check();
      slots.renew();
    }, leaseMs / RENEWALS).unref();
    return { redis, signals, slots, keyOf };
  }
}
