import { describe, expect, it } from 'vitest';
import { Env } from '../platform/config/env.js';
import { orderedUuid } from '../platform/ordered-uuid.js';
import { ShardGroups, placedId, SHARDS, shardOf, shardOfHash, shardOfUuid } from './shards.js';

describe('ids that contain a shard', () => {
  it('return it', () => {
    for (const [sequence, shard] of [
      [1, 0],
      [1, 255],
      [2 ** 40, 7],
    ] as const) {
      const id = placedId(sequence, shard);
      expect(Number.isSafeInteger(id)).toBe(true);
      expect(shardOf(id)).toBe(shard);
    }
  });

  it('have it in the last byte of a UUID or the first byte of a hash; other texts have shard 0', () => {
    expect(shardOfUuid(orderedUuid(new Date(), 0x0a))).toBe(0x0a);
    expect(shardOfUuid('01920F3E-7D6B-7C3A-9A54-3F2F6C1D9BFF')).toBe(255);
    expect(shardOfUuid('xx')).toBe(0);
    expect(shardOfHash('c0ffee')).toBe(0xc0);
  });
});

describe('groups of shards', () => {
  const groups = (count: number): ShardGroups =>
    new ShardGroups(Env.parse('maintenance', { DATABASE_SHARDS: String(count) }));

  it('contain each shard once, and rotate', () => {
    const four = groups(4);
    expect(four.areApart).toBe(true);
    const turns = [four.rotated(), four.rotated()];
    expect(turns.map(([first]) => four.of(first?.[0] ?? 0))).toEqual([1, 2]);
    expect(new Set(turns[0]?.flat()).size).toBe(SHARDS);
    expect(turns[0]?.every((shards) => new Set(shards.map((shard) => four.of(shard))).size === 1)).toBe(true);
  });

  it('separate rows that may not be changed together', () => {
    const placed = [{ shard: 1 }, { shard: 2 }, { shard: 3 }];
    expect(groups(1).byGroup(placed)).toEqual([placed]);
    expect(groups(2).byGroup(placed)).toEqual([[{ shard: 1 }, { shard: 3 }], [{ shard: 2 }]]);
  });
});
