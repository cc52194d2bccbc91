import { Injectable } from '@nestjs/common';
import { In, type DataSource, type EntityManager, type FindOperator } from 'typeorm';
import { Env } from '../platform/config/env.js';
import { groupedBy } from '#engine/support';

/** Number of values of the column `shard`. A distributed database keeps rows with the same value on one server. */
export const SHARDS = 256;
const HEX = 16;

const GROUPS = new WeakMap<DataSource, number>();

/** Sets how many groups of shards a database has. @default 1 */
export function setShardGroups(dataSource: DataSource, count: number): void {
  GROUPS.set(dataSource, count);
}

/** Reports whether statements must name the shard. A single server that holds all rows does not need it. */
export function isSharded({ connection }: Pick<EntityManager, 'connection'>): boolean {
  return (GROUPS.get(connection) ?? 1) > 1;
}

/**
 * Returns an id that contains its shard.
 * @param sequence a unique number from `IdBlocks`
 */
export function placedId(sequence: number, shard: number): number {
  return sequence * SHARDS + shard;
}

/** Returns the shard of an instance, which everything that belongs to it shares, including called processes. */
export function shardOf(id: number): number {
  return id % SHARDS;
}

/** Returns the shard in the last byte of a UUID; 0 for other texts. */
export function shardOfUuid(uuid: string): number {
  return Number.parseInt(uuid.slice(-2), HEX) || 0;
}

/** Returns the shard in the first byte of a hexadecimal hash. */
export function shardOfHash(hash: string): number {
  return Number.parseInt(hash.slice(0, 2), HEX);
}

/** Returns the condition of a finder that names the shard, or none if that is not required. */
export function inShard(
  manager: Pick<EntityManager, 'connection'>,
  shard: number | readonly number[],
): { shard?: number | FindOperator<number> } {
  return isSharded(manager) ? { shard: typeof shard === 'number' ? shard : In([...shard]) } : {};
}

/** The same for raw SQL: ` AND shard = ?`, or an empty text. */
export function andShard(
  manager: Pick<EntityManager, 'connection'>,
  shard: number | readonly number[],
  alias = '',
): { sql: string; values: number[] } {
  if (!isSharded(manager)) {
    return { sql: '', values: [] };
  }
  const column = alias === '' ? 'shard' : `${alias}.shard`;
  const all = [...new Set([shard].flat())];
  const marks = all.length === 1 ? '= ?' : `IN (${all.map(() => '?').join(', ')})`;
  return { sql: ` AND ${column} ${marks}`, values: all };
}

/** Returns the end of the condition of a join within shards, so that each server joins its own rows. */
export function sameShard(manager: Pick<EntityManager, 'connection'>, alias: string, other: string): string {
  return isSharded(manager) ? ` AND ${alias}.shard = ${other}.shard` : '';
}

/** Groups of shards that are stored together (DATABASE_SHARDS). A transaction may use one group only. */
@Injectable()
export class ShardGroups {
  private readonly groups: readonly (readonly number[])[];
  private turn = 0;

  constructor(env: Env) {
    const count = env.get('DATABASE_SHARDS');
    // Grouped by the low bits, as the vindex `reverse_bits` does (deploy/vitess).
    this.groups = Array.from({ length: count }, (_, group) =>
      Array.from({ length: SHARDS / count }, (_, index) => group + index * count),
    );
  }

  /** Whether there are several groups, so that a transaction may not use all shards. */
  get areApart(): boolean {
    return this.groups.length > 1;
  }

  /** Returns the index of the group of a shard. */
  of(shard: number): number {
    return shard % this.groups.length;
  }

  /** Returns the name of the group of a shard, for `SharedTransaction.requireShardGroup`. */
  nameOf(shard: number): string {
    return `group ${this.of(shard)}`;
  }

  /** Returns the shards of each group. Every call begins with the next group. */
  rotated(): (readonly number[])[] {
    this.turn = (this.turn + 1) % this.groups.length;
    return [...this.groups.slice(this.turn), ...this.groups.slice(0, this.turn)];
  }

  /** Splits rows by group of shards. */
  byGroup<Placed extends { shard: number }>(all: readonly Placed[]): Placed[][] {
    return [...groupedBy(all, ({ shard }) => this.of(shard)).values()];
  }
}
