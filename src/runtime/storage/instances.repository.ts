import { In } from 'typeorm';
import type { Sender, StepTransaction } from '../../store/groups/step-transaction.js';
import { type ShardGroups, sameShard, shardOf, shardOfUuid } from '../../store/shards.js';
import { isEmbedded, type RowLock } from '../../store/tables/row-locks.js';
import { filledUp, type Selection, type SelectionPart } from '../../store/tables/selection.js';
import type { Where } from '../../store/tables/conditions.js';
import { Table } from '../../store/tables/table.js';
import { type RawRow, toStoredText } from '../../store/tables/column-values.js';
import type { PayerJobs } from '../quotas/model/quota.types.js';
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

/** An instance whose lock a transaction has, and since when. */
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
 * Microseconds since 1970. UTC_TIMESTAMP is when a statement began, not when the row was there; NOW would be in the time zone of
 * the session, where the last hour of summer time comes twice.
 */
const TIMED = WHOLE.with('lockedAt', "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))");

/** What is shown of a process that another one started. */
export type ChildHead = Pick<InstanceRow, 'id' | 'uuid' | 'state' | 'processName' | 'parentIndex'>;

/** An instance whose content nobody has parsed yet. It can be large, so each reader does that in its own turn. */
export type StoredInstance = InstanceHead & { readonly contentText: unknown };

export function withContent({ contentText, ...head }: StoredInstance): InstanceRow {
  return { ...head, content: JSON.parse(toStoredText(contentText)) as InstanceContent };
}

/** The revisions of instances, for `readTogether`. */
export function revisions(
  manager: Sender,
  ids: readonly number[],
): SelectionPart<Pick<InstanceRow, 'id' | 'rev'>> {
  return REVISION.part(manager, { id: In([...ids]) });
}

/** The newest processes that an instance started, for `readTogether`. */
export function newestChildren(manager: Sender, parentId: number, limit: number): SelectionPart<ChildHead> {
  return CHILD.part(manager, calledBy(parentId), { order: { id: 'DESC' }, limit });
}

/** Those that an instance has called. */
export function calledBy(parentId: number): Where<ProcessInstanceEntity> {
  return { parentId, shard: shardOf(parentId) };
}

/** Another step changed the instance in between, which its lock makes impossible: a mistake in the code. */
export class InstanceRevisionError extends Error {
  override readonly name = 'InstanceRevisionError';
}

export const Instances = {
  /** @throws QueryFailedError when a waiting call has this child already */
  async insert(manager: Sender, row: InstanceRow): Promise<void> {
    await INSTANCES.insert(manager, [{ ...row, parentKey: parentKey(row) }]);
  },

  /** An instance, locked against every other step until the transaction ends; null when there is none. */
  async lock(manager: Sender, key: InstanceKey): Promise<InstanceRow | null> {
    return WHOLE.first(manager, key, { lock: 'pessimistic_write' });
  },

  /**
   * As `lock`, and when that was. Who has to wait for another transaction looks at the revision first, in a transaction of its own:
   * a group waits for nobody, so groups cannot wait for each other.
   */
  async lockTimed(transaction: StepTransaction, key: InstanceKey): Promise<LockedRow | null> {
    if (isEmbedded(transaction.connection)) {
      return lockEmbedded(transaction, key);
    }
    // Null where another transaction holds the instance, or there is none.
    const free = await timed(transaction, key, 'pessimistic_partial_write');
    if (free !== null) {
      return free;
    }
    transaction.alone();
    const before = await REVISION.first(transaction, key);
    const found = await timed(transaction, key, 'pessimistic_write');
    return (
      found && { ...found, locked: { ...found.locked, revBefore: before?.rev ?? found.locked.revBefore } }
    );
  },

  /** As `lock`, without the content. */
  async lockHead(manager: Sender, key: InstanceKey): Promise<InstanceHead | null> {
    return HEAD.first(manager, key, { lock: 'pessimistic_write' });
  },

  /**
   * Instances by their uuids, in this order; null for one that is not there. `withContent` makes rows of them. One statement for each
   * group of shards: a statement for several would wait for all of them.
   */
  async findStored(
    manager: Sender,
    uuids: readonly string[],
    groups: ShardGroups,
  ): Promise<(StoredInstance | null)[]> {
    const parts = groups.parted(uuids.map((uuid) => ({ uuid, shard: shardOfUuid(uuid) })));
    const rows = await Promise.all(
      parts.map((part) => {
        const uuid = In(filledUp(part.map((one) => one.uuid)));
        return STORED.find(manager, { uuid }, { isRepeated: true });
      }),
    );
    const found = new Map(rows.flat().map((row) => [row.uuid, row]));
    return uuids.map((uuid) => found.get(uuid) ?? null);
  },

  async findHead(manager: Sender, key: InstanceKey): Promise<InstanceHead | null> {
    return HEAD.first(manager, key);
  },

  /** @throws ProcessInstanceNotFoundError */
  async demandHead(manager: Sender, uuid: string): Promise<InstanceHead> {
    const head = await Instances.findHead(manager, { uuid });
    if (head === null) {
      throw new ProcessInstanceNotFoundError();
    }
    return head;
  },

  async heads(manager: Sender, ids: readonly number[]): Promise<InstanceHead[]> {
    return HEAD.find(manager, { id: In(ids) });
  },

  /** Ids of the processes that an instance started, oldest first. */
  async childrenOf(manager: Sender, id: number): Promise<number[]> {
    const rows = await ID.find(manager, calledBy(id), { order: { id: 'ASC' } });
    return rows.map((row) => row.id);
  },

  /**
   * Open background jobs by application at the top of the calls and who started that. Not those that bring messages together: they can wait
   * for the quota themselves.
   */
  async jobsByPayer(manager: Sender): Promise<PayerJobs[]> {
    const rows = await manager.query<RawRow[]>(
      `SELECT i.root_app_id AS app, i.starter AS caller, COUNT(*) AS jobs
       FROM runtime_jobs j JOIN process_instances i ON i.id = j.instance_id${sameShard(manager, 'i', 'j')}
       WHERE j.kind <> 'MATCH_MESSAGE' GROUP BY i.root_app_id, i.starter`,
    );
    return rows.map(({ app, caller, jobs }) => ({
      appId: String(app),
      caller: caller as string | null,
      jobs: Number(jobs),
    }));
  },

  /** @throws InstanceRevisionError when another step came between */
  async update(manager: Sender, { id, rev }: InstanceHead, changes: Partial<InstanceChange>): Promise<void> {
    if ((await INSTANCES.update(manager, { id, rev }, { ...changes, rev: () => 'rev + 1' })) !== 1) {
      throw new InstanceRevisionError('The revision of the instance has changed.');
    }
  },
};

async function lockEmbedded(manager: Sender, key: InstanceKey): Promise<LockedRow | null> {
  const sentAt = performance.now();
  const row = await firstBy(WHOLE, manager, key);
  // The clock of the service may stand still, in tests of applications.
  return row && { row, locked: { at: performance.timeOrigin + sentAt, sentAt, revBefore: row.rev } };
}

async function timed(manager: Sender, key: InstanceKey, lock: RowLock): Promise<LockedRow | null> {
  const sentAt = performance.now();
  const row = await firstBy(TIMED, manager, key, lock);
  return row && { row, locked: { at: Number(row.lockedAt) / 1_000, sentAt, revBefore: row.rev } };
}

async function firstBy<Read extends { uuid: string; id: number }>(
  selection: Selection<ProcessInstanceEntity, Read>,
  manager: Sender,
  key: InstanceKey,
  lock?: RowLock,
): Promise<Read | null> {
  const found =
    'uuid' in key
      ? await selection.findBy(manager, 'uuid', key.uuid, {}, lock)
      : await selection.findBy(manager, 'id', key.id, {}, lock);
  return found[0] ?? null;
}
