import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startCluster, startSentinelGroup, type RedisGroup } from '../../support/discovery/redis-groups.js';
import { programOf, tryStart } from '../../support/discovery/local-server.js';
import { LATE, LIMIT, SharingReplica } from './sharing-replica.js';

/** So many that each server of a cluster has some. */
const NAMES = Array.from({ length: 24 }, (_, index) => `name ${index}`);
const TOKEN = {
  value: 'token',
  usableUntil: Date.now() + 600_000,
  noExpiry: false,
  way: { method: 'client_secret_basic', sendsResource: true },
} as const;

const { missing } = await tryStart(() => programOf('/usr/bin/redis-server', 'redis-server'));
if (missing !== undefined) {
  console.log(`tests of what replicas share in Redis that fails over: skipped, ${missing}`);
}

describe.skipIf(missing !== undefined).each([
  ['Sentinels', startSentinelGroup],
  ['a cluster', startCluster],
])('what replicas share in Redis behind %s', (_name, startGroup) => {
  let group: RedisGroup;
  let one: SharingReplica;
  let other: SharingReplica;

  beforeAll(async () => {
    group = await startGroup();
  });
  beforeEach(async () => {
    [one, other] = await Promise.all([SharingReplica.start(group.url), SharingReplica.start(group.url)]);
  });
  afterEach(() => [one, other].forEach((replica) => replica.stop()));
  afterAll(() => group.stop());

  /** Of each name there is one slot for both. */
  const shareSlots = async (): Promise<void> => {
    const taken = await Promise.all(NAMES.map((name) => one.shared.slots.take(name, 1)));
    const again = await Promise.all(NAMES.map((name) => other.shared.slots.take(name, 1)));
    NAMES.filter((_, index) => taken[index]).forEach((name) => one.shared.slots.leave(name));
    NAMES.filter((_, index) => again[index]).forEach((name) => other.shared.slots.leave(name));
    expect(taken).toEqual(NAMES.map(() => true));
    expect(again).toEqual(NAMES.map(() => false));
    await vi.waitFor(async () => {
      for (const name of NAMES) {
        expect(await other.shared.slots.take(name, 1)).toBe(true);
        other.shared.slots.leave(name);
      }
    }, LATE);
  };
  /** Callers have their limit in both together. */
  const shareCounts = async (callers: readonly string[]): Promise<void> => {
    for (const caller of callers) {
      for (let request = 0; request < LIMIT; request += 1) {
        expect(one.isLetThrough(caller)).toBe(true);
      }
    }
    const letThrough = new Map(callers.map((caller) => [caller, 0]));
    const refused = new Set<string>();
    await vi.waitFor(() => {
      for (const caller of callers.filter((each) => !refused.has(each))) {
        if (other.isLetThrough(caller)) {
          letThrough.set(caller, (letThrough.get(caller) ?? 0) + 1);
        } else {
          refused.add(caller);
        }
      }
      expect(refused.size).toBe(callers.length);
    }, LATE);
    // Alone it would let through as many as its own limit.
    expect(Math.max(...letThrough.values())).toBeLessThan(LIMIT);
  };
  const shareSignals = async (item: string): Promise<void> => {
    const heard: string[] = [];
    const end = other.shared.signals.listen('instance', (items) => heard.push(...items));
    await vi.waitFor(() => {
      one.shared.signals.tell('instance', item);
      expect(heard).toContain(item);
    }, LATE);
    end();
  };
  const shareTokens = async (kind: string): Promise<void> => {
    for (const name of NAMES.map((each) => `${kind} ${each}`)) {
      one.tokens.keep(name, { ...TOKEN, value: name });
      await vi.waitFor(async () => {
        expect(await other.tokens.find(name)).toMatchObject({ value: name });
      }, LATE);
      other.tokens.drop(name);
      await vi.waitFor(async () => expect(await one.tokens.find(name)).toBeUndefined(), LATE);
    }
  };

  it('are slots, counts, signals and tokens', async () => {
    await shareSlots();
    await shareCounts(NAMES);
    await shareSignals('first');
    await shareTokens('first');
  });

  it('is given to whoever waits for a slot of another replica', async () => {
    expect(await one.shared.slots.take('turn', 1)).toBe(true);
    const { signal } = new AbortController();
    const turn = other.shared.slots.wait('turn', 1, { ms: 60_000, signal });
    await vi.waitFor(async () => expect(await other.shared.slots.take('turn', 1)).toBe(false));
    one.shared.slots.leave('turn');
    expect(await turn).toEqual({ waited: true });
    other.shared.slots.leave('turn');
  });

  it('stands for each of them alone while a server is gone, and for all again when another has its place', async () => {
    const { servers, ports } = group;
    const before = await group.primaries();
    const [gone = 0] = before;
    await servers[ports.indexOf(gone)]?.kill();
    // Of a server that is gone, both have what they want.
    const all = await Promise.all(
      [one, other].flatMap(({ shared }) => NAMES.map((name) => shared.slots.take(`alone ${name}`, 2))),
    );
    expect(new Set(all)).toEqual(new Set([true]));
    NAMES.forEach((name) => [one, other].forEach(({ shared }) => shared.slots.leave(`alone ${name}`)));
    await vi.waitFor(async () => {
      expect((await group.primaries()).some((port) => !before.includes(port))).toBe(true);
    }, LATE);
    await vi.waitFor(shareSlots, LATE);
    await shareSignals('second');
    await shareTokens('second');
    await shareCounts(NAMES.map((name) => `late ${name}`));
    await servers[ports.indexOf(gone)]?.restart();
  });
});
