import { randomUUID } from 'node:crypto';
import type { RedisAnswers } from './redis-answers.js';
import type { RedisClient } from './redis-connections.js';

/** What is told at about the same time goes in one message. */
const TELL_MS = 5;
const MOST_AT_ONCE = 1_000;
const SEPARATOR = '\n';

/** What replicas tell each other: an instance has changed, a scan has ended. */
type SignalTopic = 'instance' | 'scan';

/** Hears what other replicas tell, each item once for each time that it was told; the order of items means nothing. */
type SignalListener = (items: readonly string[]) => void;

/** Tells other replicas what they would find out later by themselves: a signal can be lost. */
export class ReplicaSignals {
  private readonly listeners = new Map<string, Set<SignalListener>>();
  private untold = new Map<SignalTopic, Set<string>>();
  private timer: NodeJS.Timeout | undefined;

  /** Of this replica, which does not hear its own signals. */
  private readonly replica = randomUUID();

  /** @param subscriber a connection that is used for nothing else */
  constructor(
    private readonly channel: string,
    private readonly redis: RedisAnswers,
    private readonly subscriber: RedisClient,
  ) {
    subscriber.on('message', (_channel: string, message: string) => this.hear(message));
    subscriber.on('ready', () => this.subscribe());
    this.subscribe();
  }

  /** @param item without line breaks; nothing that must stay secret */
  tell(topic: SignalTopic, item: string): void {
    if (!this.redis.isReady) {
      return;
    }
    const items = this.untold.get(topic) ?? new Set();
    this.untold.set(topic, items.add(item));
    if (items.size >= MOST_AT_ONCE) {
      this.send();
    }
    this.timer ??= setTimeout(() => this.send(), TELL_MS).unref();
  }

  /** @returns function that ends it */
  listen(topic: SignalTopic, listener: SignalListener): () => void {
    const listeners = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** To be called again and again: subscribes where it was refused before, and finds a connection that leads nowhere. */
  check(): void {
    if (this.subscriber.status === 'ready') {
      this.subscribe();
    }
  }

  /** Once more does no harm. */
  private subscribe(): void {
    void this.subscriber.subscribe(this.channel).catch(() => undefined);
  }

  private send(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const untold = [...this.untold];
    this.untold.clear();
    for (const [topic, items] of untold) {
      const message = [this.replica, topic, ...items].join(SEPARATOR);
      void this.redis.ask((client) => client.publish(this.channel, message)).catch(() => undefined);
    }
  }

  private hear(message: string): void {
    const [replica, topic = '', ...items] = message.split(SEPARATOR);
    if (replica !== this.replica) {
      this.listeners.get(topic)?.forEach((listener) => listener(items));
    }
  }
}
