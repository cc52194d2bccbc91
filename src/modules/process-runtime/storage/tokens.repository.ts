import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { RawRow } from '../../../database/raw-row.js';
import { toSafeInteger } from '../../../database/safe-integer.js';
import type { TokenState } from '../engine/state/engine.types.js';
import { InstanceRevisionError } from './instances.repository.js';
import { change, insertRows, placeholders } from './sql.js';
import {
  TOKEN_COLUMNS,
  changedTokenColumns,
  newTokenColumns,
  toTokenRow,
  type TokenFlags,
  type TokenRow,
} from './token.row.js';

/** A token with what a step found out about it. */
export interface TokenChange {
  token: TokenState;
  flags: TokenFlags;
}

/** Where a token stands in the token tree. */
export interface TokenLink {
  id: number;
  parentId: number | null;
}

/** Rows of tokens. Every statement names the instance, whose lock its caller holds. */
@Injectable()
export class TokensRepository {
  /** The tokens that a step needs, by id. */
  async live(manager: EntityManager, instanceId: number): Promise<TokenRow[]> {
    const rows = await manager.query<RawRow[]>(
      `SELECT ${TOKEN_COLUMNS} FROM process_tokens WHERE instance_id = ? AND live = ?`,
      [instanceId, 1],
    );
    // Sorted here: a server would have to sort rows with long texts.
    return rows.map(toTokenRow).toSorted((one, other) => one.state.id - other.state.id);
  }

  /** Ids of tokens, live or not, newest first. */
  async newest(manager: EntityManager, instanceId: number, limit: number): Promise<number[]> {
    const rows = await manager.query<RawRow[]>(
      'SELECT id FROM process_tokens WHERE instance_id = ? ORDER BY id DESC LIMIT ?',
      [instanceId, limit],
    );
    return rows.map((row) => toSafeInteger(row['id']));
  }

  /** Tokens by their ids, in the order of ids. */
  async byIds(manager: EntityManager, ids: readonly number[]): Promise<TokenRow[]> {
    if (ids.length === 0) {
      return [];
    }
    const rows = await manager.query<RawRow[]>(
      `SELECT ${TOKEN_COLUMNS} FROM process_tokens WHERE id IN (${placeholders(ids)})`,
      [...ids],
    );
    return rows.map(toTokenRow).toSorted((one, other) => one.state.id - other.state.id);
  }

  /** Id and visit of a token of the instance, live or not; null when it has none of this uuid. */
  async find(
    manager: EntityManager,
    instanceId: number,
    uuid: string,
  ): Promise<{ id: number; visit: number; live: boolean } | null> {
    const [row] = await manager.query<RawRow[]>(
      'SELECT id, visit, live FROM process_tokens WHERE instance_id = ? AND uuid = ?',
      [instanceId, uuid],
    );
    return row === undefined
      ? null
      : { id: toSafeInteger(row['id']), visit: Number(row['visit']), live: Number(row['live']) === 1 };
  }

  /** The uuids of tokens by id. */
  async uuids(manager: EntityManager, ids: readonly number[]): Promise<Map<number, string>> {
    if (ids.length === 0) {
      return new Map();
    }
    const rows = await manager.query<RawRow[]>(
      `SELECT id, uuid FROM process_tokens WHERE id IN (${placeholders(ids)})`,
      [...ids],
    );
    return new Map(rows.map((row) => [toSafeInteger(row['id']), row['uuid'] as string]));
  }

  /** The whole token tree of an instance. */
  async links(manager: EntityManager, instanceId: number): Promise<TokenLink[]> {
    const rows = await manager.query<RawRow[]>(
      'SELECT id, parent_id FROM process_tokens WHERE instance_id = ?',
      [instanceId],
    );
    return rows.map((row) => ({
      id: toSafeInteger(row['id']),
      parentId: row['parent_id'] === null ? null : toSafeInteger(row['parent_id']),
    }));
  }

  /**
   * Adds tokens that are new and writes those that have changed, in the order of ids.
   * @throws InstanceRevisionError when one is not as it was loaded
   */
  async write(
    manager: EntityManager,
    owner: { id: number; shard: number },
    changes: readonly TokenChange[],
    now: Date,
  ): Promise<void> {
    const sorted = changes.toSorted((one, other) => one.token.id - other.token.id);
    for (const { token, flags } of sorted.filter(({ token }) => token.rev > 0)) {
      await this.update(manager, owner.id, { token, flags }, now);
    }
    const added = sorted.filter(({ token }) => token.rev === 0);
    await insertRows(
      manager,
      'process_tokens',
      added.map(({ token, flags }) => newTokenColumns(token, flags, owner, now)),
    );
  }

  private async update(
    manager: EntityManager,
    instanceId: number,
    { token, flags }: TokenChange,
    now: Date,
  ): Promise<void> {
    const columns = changedTokenColumns(token, flags, now);
    const names = Object.keys(columns);
    const count = await change(
      manager,
      `UPDATE process_tokens SET rev = rev + 1, ${names.map((name) => `${name} = ?`).join(', ')}
       WHERE id = ? AND instance_id = ? AND rev = ?`,
      [...Object.values(columns), token.id, instanceId, token.rev],
    );
    if (count !== 1) {
      throw new InstanceRevisionError('The revision of a token has changed.');
    }
  }
}
