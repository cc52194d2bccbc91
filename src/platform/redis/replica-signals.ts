import { randomUUID } from 'node:crypto';
import type { RedisCircuitBreaker } from './redis-circuit-breaker.js';
import type { RedisClient } from './redis-connections.js';

/** Items are collected for this long and sent in one message. */
const BATCH_MS = 5;
const MAX_BATCH = 1_000;
const SEPARATOR = '\n';

/** Topic of a signal: an instance has changed, or a scan has ended. */
type SignalTopic = 'instance' | 'scan';

/** Receives items from other replicas. Their order has no meaning. */
type SignalListener = (items: readonly string[]) => void;

/** Notifies other replicas of changes. Signals may be lost, so receivers must also poll. */
export class ReplicaSignals {
  private readonly listeners = new Map<string, Set<SignalListener>>();
  private readonly pending = new Map<SignalTopic, Set<string>>();
  private timer: NodeJS.Timeout | undefined;

  /** Id of this replica, which ignores its own signals. */
  private readonly replica = randomUUID();

  /** @param subscriber a connection that is used for nothing else */
  constructor(
    private readonly channel: string,
    private readonly redis: RedisCircuitBreaker,
    private readonly subscriber: RedisClient,
  ) {
    subscriber.on('message', (_channel: string, message: string) => this.receive(message));
    subscriber.on('ready', () => this.subscribe());
    this.subscribe();
  }

  /** Publishes an item soon. @param item must contain neither line breaks nor secrets */
  publish(topic: SignalTopic, item: string): void {
    if (!this.redis.isReady) {
      return;
    }
    const items = this.pending.get(topic) ?? new Set();
    this.pending.set(topic, items.add(item));
    if (items.size >= MAX_BATCH) {
      this.flush();
    }
    this.timer ??= setTimeout(() => this.flush(), BATCH_MS).unref();
  }

  /** @returns a function that removes the listener */
  listen(topic: SignalTopic, listener: SignalListener): () => void {
    const listeners = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Renews the subscription, and detects a dead connection. Call it periodically. */
  check(): void {
    if (this.subscriber.status === 'ready') {
      this.subscribe();
    }
  }

  /** Idempotent. */
  private subscribe(): void {
    void this.subscriber.subscribe(this.channel).catch(() => undefined);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const pending = [...this.pending];
    this.pending.clear();
    for (const [topic, items] of pending) {
      const message = [this.replica, topic, ...items].join(SEPARATOR);
      void this.redis.run((client) => client.publish(this.channel, message)).catch(() => undefined);
    }
  }

  private receive(message: string): void {
    const [replica, topic = '', ...items] = message.split(SEPARATOR);
    if (replica !== this.replica) {
      this.listeners.get(topic)?.forEach((listener) => listener(items));
    }
  }
}
