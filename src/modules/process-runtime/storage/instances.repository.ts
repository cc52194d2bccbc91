import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../../common/clock.js';
import { Database } from '../../../database/database.js';
import type { RawRow } from '../../../database/raw-row.js';
import { isUnknownStatement } from '../../../database/unknown-statement.js';
import { toSafeInteger } from '../../../database/safe-integer.js';
import {
  HEAD_COLUMNS,
  fromInstanceRow,
  toInstanceHead,
  toInstanceRow,
  type InstanceHead,
  type InstanceRow,
} from './instance.row.js';
import { change, insertRows, placeholders, sqlText, sqlTime, sqlTimeOrNull, type SqlValue } from './sql.js';

/** Names one instance. */
export type InstanceKey = { uuid: string } | { id: number };

/** Columns of an instance that a step writes. */
export type InstanceChange = Pick<
  InstanceRow,
  'state' | 'seq' | 'openIncidents' | 'content' | 'modifiedAt' | 'endedAt' | 'expiresAt'
>;

/**
 * When a statement asked for the lock of an instance: replicas' clocks differ, so it is the database's, and this process adds to it what
 * its monotonic clock says.
 */
export interface LockTime {
  /** Epoch milliseconds on the clock of the database. */
  at: number;
  /** The same moment on the monotonic clock of this process. */
  sentAt: number;
  /** Revision of the instance when the step first asked for it, before it waited for other transactions. */
  revBefore: number;
}

const UPDATE = `UPDATE process_instances
  SET state = ?, rev = rev + 1, seq = ?, open_incidents = ?, content = ?, modified_at = ?, ended_at = ?, expires_at = ?
  WHERE id = ? AND rev = ?`;
const UPDATE_TRAIL = `UPDATE process_instances
  SET rev = rev + 1, seq = ?, open_incidents = ?, modified_at = ? WHERE id = ? AND rev = ?`;

/** Another step changed the instance in between, which its lock makes impossible: a mistake in the code. */
export class InstanceRevisionError extends Error {
  override readonly name = 'InstanceRevisionError';
}

/** Rows of process instances. */
@Injectable()
export class InstancesRepository {
  /** Whether the server can tell a row that another transaction holds without waiting for it; found out by asking. */
  private skipsLocked = true;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @throws QueryFailedError when a waiting call has this child already */
  async insert(manager: EntityManager, row: InstanceRow): Promise<void> {
    await insertRows(manager, 'process_instances', [fromInstanceRow(row)]);
  }

  /** An instance, locked against every other step until the transaction ends; null when there is none. */
  async lock(manager: EntityManager, key: InstanceKey): Promise<InstanceRow | null> {
    const row = await this.select(manager, key, `${HEAD_COLUMNS}, content`, this.forUpdate);
    return row === undefined ? null : toInstanceRow(row);
  }

  /** As `lock`, and when that was. Who has to wait for another transaction looks at the revision first. */
  async lockTimed(
    manager: EntityManager,
    key: InstanceKey,
  ): Promise<{ row: InstanceRow; locked: LockTime } | null> {
    const free = this.database.isEmbedded ? null : await this.lockFree(manager, key);
    if (free !== null) {
      return free;
    }
    const before = this.database.isEmbedded ? undefined : await this.select(manager, key, 'rev', '');
    const found = await this.timed(manager, key, this.forUpdate);
    if (found === null) {
      return null;
    }
    const { row, locked } = found;
    return { row, locked: { ...locked, revBefore: Number(before?.['rev'] ?? row.rev) } };
  }

  /** Null where another transaction holds the instance, or there is none. */
  private async lockFree(
    manager: EntityManager,
    key: InstanceKey,
  ): Promise<{ row: InstanceRow; locked: LockTime } | null> {
    if (!this.skipsLocked) {
      return null;
    }
    try {
      return await this.timed(manager, key, `${this.forUpdate} SKIP LOCKED`);
    } catch (error) {
      if (!isUnknownStatement(error)) {
        throw error;
      }
      this.skipsLocked = false;
      return null;
    }
  }

  private async timed(
    manager: EntityManager,
    key: InstanceKey,
    lock: string,
  ): Promise<{ row: InstanceRow; locked: LockTime } | null> {
    const sentAt = performance.now();
    const found = await this.select(manager, key, `${HEAD_COLUMNS}, content${this.lockTime}`, lock);
    if (found === undefined) {
      return null;
    }
    const row = toInstanceRow(found);
    return { row, locked: { at: this.lockedAt(found), sentAt, revBefore: row.rev } };
  }

  /** As `lock`, without the content. */
  async lockHead(manager: EntityManager, key: InstanceKey): Promise<InstanceHead | null> {
    const row = await this.select(manager, key, HEAD_COLUMNS, this.forUpdate);
    return row === undefined ? null : toInstanceHead(row);
  }

  async find(manager: EntityManager, key: InstanceKey): Promise<InstanceRow | null> {
    const row = await this.select(manager, key, `${HEAD_COLUMNS}, content`, '');
    return row === undefined ? null : toInstanceRow(row);
  }

  async findHead(manager: EntityManager, key: InstanceKey): Promise<InstanceHead | null> {
    const row = await this.select(manager, key, HEAD_COLUMNS, '');
    return row === undefined ? null : toInstanceHead(row);
  }

  /** Heads of instances in no order. */
  async heads(manager: EntityManager, ids: readonly number[]): Promise<InstanceHead[]> {
    if (ids.length === 0) {
      return [];
    }
    const rows = await manager.query<RawRow[]>(
      `SELECT ${HEAD_COLUMNS} FROM process_instances WHERE id IN (${placeholders(ids)})`,
      [...ids],
    );
    return rows.map(toInstanceHead);
  }

  /** Ids of the processes that an instance started, oldest first. */
  async childrenOf(manager: EntityManager, id: number): Promise<number[]> {
    const rows = await manager.query<RawRow[]>(
      'SELECT id FROM process_instances WHERE parent_id = ? ORDER BY id',
      [id],
    );
    return rows.map((row) => toSafeInteger(row['id']));
  }

  /**
   * Writes what a step changed.
   * @throws InstanceRevisionError
   */
  async update(manager: EntityManager, { id, rev }: InstanceHead, next: InstanceChange): Promise<void> {
    await this.changeOne(manager, UPDATE, [
      next.state,
      next.seq,
      next.openIncidents,
      sqlText(JSON.stringify(next.content)),
      sqlTime(next.modifiedAt),
      sqlTimeOrNull(next.endedAt),
      sqlTimeOrNull(next.expiresAt),
      id,
      rev,
    ]);
  }

  /**
   * Writes what an event outside of a step changes.
   * @throws InstanceRevisionError
   */
  async updateTrail(
    manager: EntityManager,
    { id, rev }: InstanceHead,
    next: { seq: number; openIncidents: number; modifiedAt: Date },
  ): Promise<void> {
    const values = [next.seq, next.openIncidents, sqlTime(next.modifiedAt), id, rev];
    await this.changeOne(manager, UPDATE_TRAIL, values);
  }

  private async changeOne(manager: EntityManager, sql: string, values: SqlValue[]): Promise<void> {
    if ((await change(manager, sql, values)) !== 1) {
      throw new InstanceRevisionError('The revision of the instance has changed.');
    }
  }

  private async select(
    manager: EntityManager,
    key: InstanceKey,
    columns: string,
    lock: string,
  ): Promise<RawRow | undefined> {
    const [column, value] = 'uuid' in key ? ['uuid', key.uuid] : ['id', key.id];
    const [row] = await manager.query<RawRow[]>(
      `SELECT ${columns} FROM process_instances WHERE ${column} = ?${lock}`,
      [value],
    );
    return row;
  }

  /**
   * Microseconds since 1970. UTC_TIMESTAMP is when a statement began, not when the row was there; NOW would be in the time zone of
   * the session, where the last hour of summer time comes twice.
   */
  private get lockTime(): string {
    return this.database.isEmbedded
      ? ''
      : ", TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) AS locked_at";
  }

  private lockedAt(row: RawRow): number {
    return this.database.isEmbedded ? this.clock.now().getTime() : Number(row['locked_at']) / 1_000;
  }

  private get forUpdate(): string {
    // The embedded file runs one transaction at a time and knows no such words.
    return this.database.isEmbedded ? '' : ' FOR UPDATE';
  }
}
