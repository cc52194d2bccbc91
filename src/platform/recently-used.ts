interface Entry<Value> {
  value: Value;
  bytes: number;
}

/** What a cache may hold at the most; without a bound on one of them as much as comes. */
export interface CacheLimits {
  entries?: number;
  bytes?: number;
}

/**
 * The values that were used last, bounded by their count and by the sum of their sizes. A value larger than the whole
 * cache is held alone until the next one comes, so that it need not be loaded again at once. lru-cache refuses such a
 * value.
 */
export class RecentlyUsed<Key, Value> {
  private readonly held = new Map<Key, Entry<Value>>();
  private bytes = 0;

  constructor(
    private readonly limits: CacheLimits,
    private readonly forget: (value: Value) => void = () => undefined,
  ) {}

  get size(): number {
    return this.held.size;
  }

  get values(): Value[] {
    return [...this.held.values()].map(({ value }) => value);
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

  set(key: Key, value: Value, bytes = 0): void {
    this.delete(key);
    this.held.set(key, { value, bytes });
    this.bytes += bytes;
    for (const [oldest, entry] of this.held) {
      if (this.held.size === 1 || !this.isOver()) {
        break;
      }
      this.delete(oldest);
      this.forget(entry.value);
    }
  }

  /** Takes a value out, if it is held; `forget` is not told. */
  delete(key: Key): void {
    this.bytes -= this.held.get(key)?.bytes ?? 0;
    this.held.delete(key);
  }

  private isOver(): boolean {
    const { entries = Infinity, bytes = Infinity } = this.limits;
    return this.held.size > entries || this.bytes > bytes;
  }
}
