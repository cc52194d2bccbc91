import { In } from 'typeorm';
import type { SqlExecutor, SharedTransaction } from '../../store/groups/shared-transaction.js';
import { type ShardGroups, shardOf, shardOfUuid } from '../../store/shards.js';
import { isEmbedded, type RowLock } from '../../store/tables/row-locks.js';
import { filledUp, type Selection, type SelectionPart } from '../../store/tables/selection.js';
import type { Where } from '../../store/tables/conditions.js';
import { Table } from '../../store/tables/table.js';
import { toStoredText } from '../../store/tables/column-values.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import {
  type InstanceContent,
  parentKey,
  type InstanceHead,
  type InstanceRow,
  ProcessInstanceEntity,
} from './process-instance.entity.js';

export type InstanceKey = { uuid: string } | { id: number };

/** Columns of an instance that a step writes. */
type InstanceChange = Pick<
  InstanceRow,
  'state' | 'seq' | 'openIncidents' | 'content' | 'modifiedAt' | 'endedAt' | 'expiresAt'
>;

/**
 * Time at which a statement requested the lock of an instance. Taken from the database because clocks of replicas differ; the monotonic
 * clock of this process measures the time since then.
 */
export interface LockTime {
  /** Epoch milliseconds on the clock of the database. */
  at: number;
  /** The same moment on the monotonic clock of this process. */
  sentAt: number;
  /** Revision of the instance before the step waited for other transactions. */
  revBefore: number;
}

/** Instance locked by a transaction, with the lock time. */
export interface LockedRow {
  row: InstanceRow;
  locked: LockTime;
}

const INSTANCES = new Table(ProcessInstanceEntity, { id: shardOf, uuid: shardOfUuid });
const WHOLE = INSTANCES.selectAllBut('parentKey');
const HEAD = INSTANCES.selectAllBut('parentKey', 'content');
const STORED = HEAD.with('contentText', 'content');
const ID = INSTANCES.select('id');
const REVISION = INSTANCES.select('id', 'rev');
const CHILD = INSTANCES.select('id', 'uuid', 'state', 'processName', 'parentIndex');
/**
 * Adds the lock time in epoch microseconds. UTC_TIMESTAMP is when the statement started, not when the row was locked. NOW would be in
 * the session time zone, where the hour at the end of daylight saving time is ambiguous.
 */
const TIMED = WHOLE.with('lockedAt', "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))");

/** Columns of a called process in lists. */
export type ChildHead = Pick<InstanceRow, 'id' | 'uuid' | 'state' | 'processName' | 'parentIndex'>;

/** Instance with unparsed content. Content can be large, so each reader parses it in its own turn of the event loop. */
export type StoredInstance = InstanceHead & { readonly contentText: unknown };

export function withContent({ contentText, ...head }: StoredInstance): InstanceRow {
  return { ...head, content: JSON.parse(toStoredText(contentText)) as InstanceContent };
}

/** Selects the revisions of instances, for `readTogether`. */
export function revisions(
  executor: SqlExecutor,
  ids: readonly number[],
): SelectionPart<Pick<InstanceRow, 'id' | 'rev'>> {
  return REVISION.part(executor, { id: In([...ids]) });
}

/** Selects the newest processes that an instance called, for `readTogether`. */
export function newestChildren(
  executor: SqlExecutor,
  parentId: number,
  limit: number,
): SelectionPart<ChildHead> {
  return CHILD.part(executor, calledBy(parentId), { order: { id: 'DESC' }, limit });
}

/** Returns the condition for processes that an instance called. */
export function calledBy(parentId: number): Where<ProcessInstanceEntity> {
  return { parentId, shard: shardOf(parentId) };
}

/** Another step changed the instance despite its lock, which indicates a bug. */
export class InstanceRevisionError extends Error {
  override readonly name = 'InstanceRevisionError';
}

export const Instances = {
  /** @throws QueryFailedError when a waiting call already has this child */
  async insert(executor: SqlExecutor, row: InstanceRow): Promise<void> {
    await INSTANCES.insert(executor, [{ ...row, parentKey: parentKey(row) }]);
  },

  /** Locks an instance until the transaction ends and returns it; null if it does not exist. */
  async lock(executor: SqlExecutor, key: InstanceKey): Promise<InstanceRow | null> {
    return WHOLE.first(executor, key, { lock: 'pessimistic_write' });
  },

  /**
   * Locks an instance and returns the lock time. If another transaction holds the lock, the step leaves its shared transaction and
   * reads the revision before it waits: shared transactions never wait for locks, so they cannot deadlock each other.
   */
  async lockTimed(transaction: SharedTransaction, key: InstanceKey): Promise<LockedRow | null> {
    if (isEmbedded(transaction.connection)) {
      return lockEmbedded(transaction, key);
    }
    // Null if another transaction holds the lock or the instance does not exist.
    const free = await timed(transaction, key, 'pessimistic_partial_write');
    if (free !== null) {
      return free;
    }
    transaction.requireOwnTransaction();
    const before = await REVISION.first(transaction, key);
    const found = await timed(transaction, key, 'pessimistic_write');
    return (
      found && { ...found, locked: { ...found.locked, revBefore: before?.rev ?? found.locked.revBefore } }
    );
  },

  /** Locks an instance and returns it without its content. */
  async lockHead(executor: SqlExecutor, key: InstanceKey): Promise<InstanceHead | null> {
    return HEAD.first(executor, key, { lock: 'pessimistic_write' });
  },

  /**
   * Finds instances by uuid, in this order, with null for missing ones; convert them with `withContent`. Sends one statement per group of
   * shards, so that no read waits for several servers.
   */
  async findStored(
    executor: SqlExecutor,
    uuids: readonly string[],
    groups: ShardGroups,
  ): Promise<(StoredInstance | null)[]> {
    const parts = groups.byGroup(uuids.map((uuid) => ({ uuid, shard: shardOfUuid(uuid) })));
    const rows = await Promise.all(
      parts.map((part) => {
        const uuid = In(filledUp(part.map((one) => one.uuid)));
        return STORED.find(executor, { uuid }, { isRepeated: true });
      }),
    );
    const found = new Map(rows.flat().map((row) => [row.uuid, row]));
    return uuids.map((uuid) => found.get(uuid) ?? null);
  },

  async findHead(executor: SqlExecutor, key: InstanceKey): Promise<InstanceHead | null> {
    return HEAD.first(executor, key);
  },

  /** @throws ProcessInstanceNotFoundError */
  async requireHead(executor: SqlExecutor, uuid: string): Promise<InstanceHead> {
    const head = await Instances.findHead(executor, { uuid });
    if (head === null) {
      throw new ProcessInstanceNotFoundError();
    }
    return head;
  },

  async heads(executor: SqlExecutor, ids: readonly number[]): Promise<InstanceHead[]> {
    return HEAD.find(executor, { id: In(ids) });
  },

  /** Returns the ids of processes that an instance called, oldest first. */
  async childrenOf(executor: SqlExecutor, id: number): Promise<number[]> {
    const rows = await ID.find(executor, calledBy(id), { order: { id: 'ASC' } });
    return rows.map((row) => row.id);
  },

  /** @throws InstanceRevisionError when another step has changed the instance */
  async update(
    executor: SqlExecutor,
    { id, rev }: InstanceHead,
    changes: Partial<InstanceChange>,
  ): Promise<void> {
    if ((await INSTANCES.update(executor, { id, rev }, { ...changes, rev: () => 'rev + 1' })) !== 1) {
      throw new InstanceRevisionError('The revision of the instance has changed.');
    }
  },
};

async function lockEmbedded(executor: SqlExecutor, key: InstanceKey): Promise<LockedRow | null> {
  const sentAt = performance.now();
  const row = await firstBy(WHOLE, executor, key);
  // Uses the monotonic clock because tests of applications can stop the clock of the service.
  return row && { row, locked: { at: performance.timeOrigin + sentAt, sentAt, revBefore: row.rev } };
}

async function timed(executor: SqlExecutor, key: InstanceKey, lock: RowLock): Promise<LockedRow | null> {
  const sentAt = performance.now();
  const row = await firstBy(TIMED, executor, key, lock);
  return row && { row, locked: { at: Number(row.lockedAt) / 1_000, sentAt, revBefore: row.rev } };
}

async function firstBy<Read extends { uuid: string; id: number }>(
  selection: Selection<ProcessInstanceEntity, Read>,
  executor: SqlExecutor,
  key: InstanceKey,
  lock?: RowLock,
): Promise<Read | null> {
  const found =
    'uuid' in key
      ? await selection.findBy(executor, 'uuid', key.uuid, {}, lock)
      : await selection.findBy(executor, 'id', key.id, {}, lock);
  return found[0] ?? null;
}
