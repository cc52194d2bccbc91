interface Entry<Value> {
  value: Value;
  bytes: number;
}

/** What a cache may hold at the most. */
export interface CacheLimits {
  entries: number;
  bytes: number;
}

/**
 * The values that were used last, bounded by their count and by the sum of their sizes. A value larger than
 * the whole cache is held alone until the next one comes: whoever has it shall not load it again at once.
 */
export class RecentlyUsed<Key, Value> {
  private readonly held = new Map<Key, Entry<Value>>();
  private bytes = 0;

  /** @param forget called with each value that has to go */
  constructor(
    private readonly limits: CacheLimits,
    private readonly forget: (value: Value) => void = () => undefined,
  ) {}

  get size(): number {
    return this.held.size;
  }

  get(key: Key): Value | undefined {
    const entry = this.held.get(key);
    if (entry !== undefined) {
      // A map keeps the order in which keys were added: the first one is the one not used for longest.
      this.held.delete(key);
      this.held.set(key, entry);
    }
    return entry?.value;
  }

  /** Adds a value whose key is not held. */
  add(key: Key, value: Value, bytes: number): void {
    this.held.set(key, { value, bytes });
    this.bytes += bytes;
    while (this.held.size > 1 && this.isOver()) {
      this.dropOldest();
    }
  }

  /** Takes a value out, if it is held; `forget` is not told. */
  delete(key: Key): void {
    this.bytes -= this.held.get(key)?.bytes ?? 0;
    this.held.delete(key);
  }

  private isOver(): boolean {
    return this.held.size > this.limits.entries || this.bytes > this.limits.bytes;
  }

  private dropOldest(): void {
    const [oldest] = this.held;
    if (oldest !== undefined) {
      const [key, { value, bytes }] = oldest;
      this.held.delete(key);
      this.bytes -= bytes;
      this.forget(value);
    }
  }
}
