import { Injectable } from '@nestjs/common';
import { In, type DataSource, type EntityManager, type FindOperator } from 'typeorm';
import { Env } from '../platform/config/env.js';
import { groupedBy } from '#engine/support';

/** Values of the column `shard`. A database that is spread over servers keeps rows of one value together. */
export const SHARDS = 256;
const HEX = 16;

const GROUPS = new WeakMap<DataSource, number>();

/** Tells how many groups of shards a database has; one where nobody has said it. */
export function setShardGroups(dataSource: DataSource, count: number): void {
  GROUPS.set(dataSource, count);
}

/** Whether statements have to name the shard: a server that holds all rows finds them without. */
export function isSharded({ connection }: Pick<EntityManager, 'connection'>): boolean {
  return (GROUPS.get(connection) ?? 1) > 1;
}

/**
 * An id that carries its shard.
 * @param sequence one of the numbers of `IdBlocks` that nobody else gets
 */
export function placedId(sequence: number, shard: number): number {
  return sequence * SHARDS + shard;
}

/** The shard of an instance, which is that of everything that belongs to it, called processes too. */
export function shardOf(id: number): number {
  return id % SHARDS;
}

/** The shard that the last byte of a uuid tells; 0 for what is no uuid. */
export function shardOfUuid(uuid: string): number {
  return Number.parseInt(uuid.slice(-2), HEX) || 0;
}

/** The shard that the first byte of a hash in hexadecimal digits tells. */
export function shardOfHash(hash: string): number {
  return Number.parseInt(hash.slice(0, 2), HEX);
}

/** Conditions of a finder that name the shard, where they have to. */
export function inShard(
  manager: Pick<EntityManager, 'connection'>,
  shard: number | readonly number[],
): { shard?: number | FindOperator<number> } {
  return isSharded(manager) ? { shard: typeof shard === 'number' ? shard : In([...shard]) } : {};
}

/** The same for a statement that is spelled out: ` AND shard = ?`, or nothing. */
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

/** The end of the condition of a join whose rows are always in one shard, so that each shard joins its own. */
export function sameShard(manager: Pick<EntityManager, 'connection'>, alias: string, other: string): string {
  return isSharded(manager) ? ` AND ${alias}.shard = ${other}.shard` : '';
}

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

  parted<Placed extends { shard: number }>(all: readonly Placed[]): Placed[][] {
    return [...groupedBy(all, ({ shard }) => this.of(shard)).values()];
  }
}
