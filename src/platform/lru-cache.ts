interface Entry<Value> {
  value: Value;
  bytes: number;
}

/** Maximum number of entries and bytes of a cache; no limit if omitted. */
export interface CacheLimits {
  entries?: number;
  bytes?: number;
}

/**
 * Cache that evicts the least recently used values, limited by count and by total size. A value larger than the whole
 * cache is kept alone until the next one is added, so that it need not be loaded again at once. The package lru-cache
 * rejects such values.
 */
export class LruCache<Key, Value> {
  private readonly entries = new Map<Key, Entry<Value>>();
  private bytes = 0;

  constructor(
    private readonly limits: CacheLimits,
    private readonly onEvict: (value: Value) => void = () => undefined,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  get values(): Value[] {
    return [...this.entries.values()].map(({ value }) => value);
  }

  get(key: Key): Value | undefined {
    const entry = this.entries.get(key);
    if (entry !== undefined) {
      // A map iterates in insertion order, so the least recently used entry comes first.
      this.entries.delete(key);
      this.entries.set(key, entry);
    }
    return entry?.value;
  }

  set(key: Key, value: Value, bytes = 0): void {
    this.delete(key);
    this.entries.set(key, { value, bytes });
    this.bytes += bytes;
    for (const [oldest, entry] of this.entries) {
      if (this.entries.size === 1 || !this.isOverLimit()) {
        break;
      }
      this.delete(oldest);
      this.onEvict(entry.value);
    }
  }

  /** Removes a value, if present, without a call of `onEvict`. */
  delete(key: Key): void {
    this.bytes -= this.entries.get(key)?.bytes ?? 0;
    this.entries.delete(key);
  }

  private isOverLimit(): boolean {
    const { entries = Infinity, bytes = Infinity } = this.limits;
    return this.entries.size > entries || this.bytes > bytes;
  }
}
