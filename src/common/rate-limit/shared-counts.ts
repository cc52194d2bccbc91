import type { Shared } from '../redis/redis.service.js';

/** How long counts of this replica wait to be told to the others. */
const TELL_MS = 100;
/** An end that is so much later is that of the next minute. */
const NEXT_MS = 1_000;
/** Adds to a count, which ends with the minute of whoever began it. Returns the count, and the milliseconds until its end. */
const ADD = `local count = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], left)
end
return {count, left}`;

/** The requests of a key in its minute, as this replica knows them. */
export interface SharedMinute {
  /** End of the minute, on the clock of `performance.now()`. */
  end: number;
  /** Of all replicas as far as they have told, and of this one. */
  count: number;
  /** Of these, those that this replica has not told yet. */
  untold: number;
}

/**
 * Lets all replicas count together. No request waits for Redis: each replica counts by itself, and ten times a second tells what it has
 * counted and learns the sum. So together they let through what all get in a tenth of a second beyond a limit. While Redis is away, each
 * replica keeps to the limit by itself.
 */
export class SharedCounts {
  private readonly untold = new Map<string, SharedMinute>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly shared: Shared) {}

  /** @param name of the count, equal on all replicas */
  counted(name: string, minute: SharedMinute): void {
    if (!this.shared.redis.isReady) {
      return;
    }
    minute.untold += 1;
    this.untold.set(name, minute);
    this.timer ??= setTimeout(() => this.tell(), TELL_MS).unref();
  }

  private tell(): void {
    this.timer = undefined;
    const told = [...this.untold];
    this.untold.clear();
    for (const [name, minute] of told) {
      const { untold } = minute;
      minute.untold = 0;
      // What is not told counts on this replica all the same.
      void this.add(name, untold, minute).catch(() => undefined);
    }
  }

  private async add(name: string, counted: number, minute: SharedMinute): Promise<void> {
    const { redis, keyOf } = this.shared;
    // A count that Redis has lost ends with this minute, and is not taken for one of the next.
    const restMs = Math.max(1, Math.round(minute.end - performance.now()));
    const sum = await redis.ask((client) => client.eval(ADD, 1, keyOf('rate', name), counted, restMs));
    const [count, leftMs] = sum as [number, number];
    const now = performance.now();
    if (minute.end <= now) {
      // What came at its very end has begun the next minute of the others. The next one here learns of it.
      return;
    }
    const end = now + leftMs;
    const isNext = end > minute.end + NEXT_MS;
    minute.count = isNext ? count + minute.untold : Math.max(minute.count, count + minute.untold);
    minute.end = end;
  }
}
