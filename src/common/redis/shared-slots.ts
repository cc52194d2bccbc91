import { WaitingLine } from '../waiting-line.js';
import type { RedisAnswers } from './redis-answers.js';
import type { ReplicaSignals } from './replica-signals.js';

/** Who waits for a slot looks so often, should a signal be lost or another replica have died. */
const LOOK_MS = 250;
/**
 * Stores how many slots a replica holds, and gives it further ones while all replicas hold fewer than `most`. Each replica has a field, with
 * its number and the end of its lease. Returns how many were given, and how many the other replicas hold.
 */
const TAKE = `local replica, held, wanted, most, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local others = 0
local fields = redis.call('HGETALL', KEYS[1])
for at = 1, #fields, 2 do
  local count, ends = string.match(fields[at + 1], '(%d+) (%d+)')
  if fields[at] ~= replica then
    if tonumber(ends) > now then
      others = others + tonumber(count)
    else
      redis.call('HDEL', KEYS[1], fields[at])
    end
  end
end
local given = math.max(0, math.min(wanted, most - others - held))
if held + given > 0 then
  redis.call('HSET', KEYS[1], replica, string.format('%d %.0f', held + given, now + lease))
  redis.call('PEXPIRE', KEYS[1], lease)
else
  redis.call('HDEL', KEYS[1], replica)
end
return {given, others}`;

/** The slots of one name, as this replica holds them. */
interface Slots {
  readonly key: string;
  most: number;
  held: number;
  /** What Redis was told last. */
  told: number;
  isAsking: boolean;
  /** Those who want one. */
  line: ((isGiven: boolean) => void)[];
  /** Those who wait until others give one back. */
  readonly waiting: WaitingLine<true>;
}

/** How long, and until when, somebody waits for a slot. */
export interface SlotWait {
  ms: number;
  signal: AbortSignal;
}

/**
 * Slots that all replicas share: so many of one name are held at the same time. What a replica holds is a lease in Redis, which it renews;
 * so a replica that dies keeps nothing. Those who want slots of one name at the same time ask Redis together. While Redis is away each
 * replica gives what it is asked for: who uses this has a limit of its own replica beside it.
 */
export class SharedSlots {
  private readonly slots = new Map<string, Slots>();

  /**
   * @param keyOf name of the slots as a key of Redis, equal in all replicas
   * @param replica id of this one
   */
  constructor(
    private readonly keyOf: (name: string) => string,
    private readonly replica: string,
    private readonly leaseMs: number,
    private readonly redis: RedisAnswers,
    private readonly signals: ReplicaSignals,
  ) {
    signals.listen('slot', (keys) => this.hear(keys));
  }

  /**
   * Takes a slot, if there is one; `leave` gives it back.
   * @param most slots of this name in all replicas
   */
  take(name: string, most: number): Promise<boolean> {
    const slots = this.slotsOf(name, most);
    return new Promise((resolve) => {
      slots.line.push(resolve);
      this.settle(name, slots);
    });
  }

  /** As `take`, and waits until there is one. @returns whether there is one, and whether it had to be waited for */
  async wait(name: string, most: number, { ms, signal }: SlotWait): Promise<{ waited: boolean } | undefined> {
    const end = performance.now() + ms;
    for (let waited = false; !signal.aborted; waited = true) {
      if (await this.take(name, most)) {
        return { waited };
      }
      const leftMs = end - performance.now();
      if (leftMs <= 0) {
        return undefined;
      }
      const slots = this.slotsOf(name, most);
      await slots.waiting.wait(true, Math.min(LOOK_MS, leftMs), signal);
      this.forget(name, slots);
    }
    return undefined;
  }

  /** Gives a slot back. */
  leave(name: string): void {
    const slots = this.slots.get(name);
    if (slots !== undefined) {
      slots.held -= 1;
      this.settle(name, slots);
    }
  }

  /** To be called again and again within the lease. */
  renew(): void {
    for (const [name, slots] of this.slots) {
      this.settle(name, slots);
    }
  }

  private slotsOf(name: string, most: number): Slots {
    const slots = this.slots.get(name) ?? {
      key: this.keyOf(name),
      most,
      held: 0,
      told: 0,
      isAsking: false,
      line: [],
      waiting: new WaitingLine(),
    };
    this.slots.set(name, slots);
    return slots;
  }

  /** Asks Redis for those in line, and tells it what was given back, until there is nothing of both. */
  private settle(name: string, slots: Slots): void {
    if (!slots.isAsking) {
      slots.isAsking = true;
      void this.ask(slots).finally(() => {
        slots.isAsking = false;
        if (slots.line.length > 0 || slots.told !== slots.held) {
          this.settle(name, slots);
        } else {
          this.forget(name, slots);
        }
      });
    }
  }

  private async ask(slots: Slots): Promise<void> {
    const wanted = slots.line.splice(0);
    const given = await this.exchange(slots, wanted.length);
    slots.held += given;
    wanted.forEach((answer, index) => answer(index < given));
  }

  private async exchange(slots: Slots, wanted: number): Promise<number> {
    const { key, held, most, told } = slots;
    try {
      const answer = await this.redis.ask((client) =>
        client.eval(TAKE, 1, key, this.replica, held, wanted, most, this.leaseMs),
      );
      const [given, others] = answer as [number, number];
      slots.told = held + given;
      if (slots.told < told && others + told >= most) {
        this.tellFree(slots);
      }
      return given;
    } catch {
      // Renewals tell it what it missed, or the lease ends.
      slots.told = held + wanted;
      return wanted;
    }
  }

  /** Others in this replica and elsewhere may have a slot now. */
  private tellFree(slots: Slots): void {
    this.signals.tell('slot', slots.key);
    wakeAll(slots.waiting);
  }

  private hear(keys: readonly string[]): void {
    const free = new Set(keys);
    for (const { key, waiting } of this.slots.values()) {
      if (waiting.length > 0 && free.has(key)) {
        wakeAll(waiting);
      }
    }
  }

  private forget(name: string, slots: Slots): void {
    const { held, isAsking, line, waiting } = slots;
    const isUnused = held === 0 && !isAsking && line.length === 0 && waiting.length === 0;
    // Others may have made new ones meanwhile.
    if (isUnused && this.slots.get(name) === slots) {
      this.slots.delete(name);
    }
  }
}

function wakeAll(waiting: WaitingLine<true>): void {
  for (let left = waiting.length; left > 0; left -= 1) {
    waiting.admit();
  }
}
