import { Injectable } from '@nestjs/common';
import { Env } from '../config/env.js';
import { SHARDS } from './shards.js';

/** Which shards are together in one place (DATABASE_SHARDS). A transaction touches one of these groups. */
@Injectable()
export class ShardGroups {
  private readonly groups: readonly (readonly number[])[];
  private turn = 0;

  constructor(env: Env) {
    const count = env.get('DATABASE_SHARDS');
    // The low bits, as the vindex `reverse_bits` parts them (deploy/vitess).
    this.groups = Array.from({ length: count }, (_, group) =>
      Array.from({ length: SHARDS / count }, (_, index) => group + index * count),
    );
  }

  /** Whether a transaction on one shard may not touch others. */
  get areApart(): boolean {
    return this.groups.length > 1;
  }

  /** Number of the group of a shard. */
  of(shard: number): number {
    return shard % this.groups.length;
  }

  /** Name of the group of a shard, for `joinGroup`: equal for all who may share a transaction. */
  nameOf(shard: number): string {
    return `place ${this.of(shard)}`;
  }

  /** The shards of each group, each time beginning with the next one. */
  inTurn(): (readonly number[])[] {
    this.turn = (this.turn + 1) % this.groups.length;
    return [...this.groups.slice(this.turn), ...this.groups.slice(0, this.turn)];
  }

  /** What may be changed together, by group. */
  parted<Placed extends { shard: number }>(all: readonly Placed[]): Placed[][] {
    const parts = new Map<number, Placed[]>();
    for (const one of all) {
      const part = parts.get(this.of(one.shard));
      if (part === undefined) {
        parts.set(this.of(one.shard), [one]);
      } else {
        part.push(one);
      }
    }
    return [...parts.values()];
  }
}
