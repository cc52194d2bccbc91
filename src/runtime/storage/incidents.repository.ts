import { In, Like } from 'typeorm';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import { shardOf } from '../../store/shards.js';
import { Table } from '../../store/tables/table.js';
import type { InstanceHead } from './process-instance.entity.js';
import type { IncidentState } from '../model/process-runtime.types.js';
import { ProcessIncidentEntity } from './process-incident.entity.js';

type OfInstance = 'shard' | 'instanceId' | 'appId' | 'buildId' | 'processName';

/** Stored incident without the columns of its instance. */
export type IncidentRow = Omit<ProcessIncidentEntity, OfInstance>;

export type IncidentOwner = Pick<InstanceHead, 'id' | 'shard' | 'appId' | 'buildId' | 'processName'>;

/** Incident without its job, which may be large. */
export type IncidentHead = Omit<IncidentRow, 'job'>;

const INCIDENTS = new Table(ProcessIncidentEntity, { instanceId: shardOf });
const OF_INSTANCE = ['shard', 'instanceId', 'appId', 'buildId', 'processName'] as const;
const WHOLE = INCIDENTS.selectAllBut(...OF_INSTANCE);
const HEAD = INCIDENTS.selectAllBut(...OF_INSTANCE, 'job');
const ID = INCIDENTS.select('id');
const JOB = INCIDENTS.select('id', 'job');
const OPEN = { state: 'OPEN' } as const;

const MESSAGE_MAX_LENGTH = 2_000;
/** Kind of the job that reports the end of a called process to its caller. */
const ANSWER = 'NOTIFY_PARENT';

export const Incidents = {
  async insert(
    executor: SqlExecutor,
    { id: instanceId, shard, appId, buildId, processName }: IncidentOwner,
    incident: IncidentRow,
  ): Promise<void> {
    const place = { instanceId, shard, appId, buildId, processName };
    await INCIDENTS.insert(executor, [
      { ...incident, ...place, message: cut(incident.message, MESSAGE_MAX_LENGTH) },
    ]);
  },

  /** Updates an open incident after the same work has failed again. */
  async refresh(executor: SqlExecutor, instanceId: number, id: number, incident: IncidentRow): Promise<void> {
    const { source, type, message, node, element, actionSvcUuid, workflowRunId, requestId, raisedAt } =
      incident;
    const failure = { source, type, message: cut(message, MESSAGE_MAX_LENGTH), node, element, actionSvcUuid };
    const changes = { ...failure, workflowRunId, requestId, raisedAt };
    await INCIDENTS.update(executor, { id, instanceId }, changes);
  },

  async open(executor: SqlExecutor, instanceId: number): Promise<IncidentHead[]> {
    return (await HEAD.find(executor, { instanceId, ...OPEN })).toSorted(byAge);
  },

  /** Returns the ids of called processes whose answers stopped an instance, by incident id. */
  async childrenOfOpen(executor: SqlExecutor, instanceId: number): Promise<Map<number, number>> {
    // Reads only answers because other jobs may be as large as process data.
    const job = Like(`%${ANSWER}%`);
    const answers = await JOB.find(executor, { instanceId, ...OPEN, source: 'SUBPROCESS', job });
    return new Map(
      answers.flatMap(({ id, job }) =>
        job?.kind === ANSWER && job.instanceId !== null ? [[id, job.instanceId]] : [],
      ),
    );
  },

  /** Returns the open incidents of tokens, oldest first. */
  async openOfTokens(
    executor: SqlExecutor,
    instanceId: number,
    tokenIds: readonly number[],
  ): Promise<IncidentHead[]> {
    const found = await HEAD.find(executor, { instanceId, ...OPEN, tokenId: In(tokenIds) });
    return found.toSorted(byAge);
  },

  /** Returns open incidents with their jobs, oldest first. @param place null for incidents of the whole instance */
  async openAt(
    executor: SqlExecutor,
    instanceId: number,
    place: { tokenId: number; visit: number } | null,
  ): Promise<IncidentRow[]> {
    const found = await WHOLE.find(executor, { instanceId, ...OPEN, ...(place ?? { tokenId: null }) });
    return found.toSorted(byAge);
  },

  /** Returns the open incident of a piece of work; null if there is none. */
  async openOf(executor: SqlExecutor, instanceId: number, workKey: string): Promise<IncidentHead | null> {
    return HEAD.first(executor, { instanceId, ...OPEN, workKey });
  },

  /** Returns those incidents of an instance that are still open. */
  async stillOpen<Row extends IncidentHead>(
    executor: SqlExecutor,
    instanceId: number,
    incidents: readonly Row[],
  ): Promise<Row[]> {
    const rows = await ID.find(executor, { ...OPEN, id: In(incidents.map(({ id }) => id)), instanceId });
    const open = new Set(rows.map(({ id }) => id));
    return incidents.filter(({ id }) => open.has(id));
  },

  /** Closes incidents of an instance and removes their jobs, which hold process data and are no longer needed. */
  async close(
    executor: SqlExecutor,
    instanceId: number,
    ids: readonly number[],
    state: IncidentState,
    closedAt: Date,
  ): Promise<void> {
    await INCIDENTS.update(executor, { id: In(ids), instanceId }, { state, closedAt, job: null });
  },
};

/** Truncates a text to the length of a column, counted in code points. */
export function cut(text: string, length: number): string {
  return Array.from(text.replace(/\p{Cs}/gu, '\ufffd'))
    .slice(0, length)
    .join('');
}

function byAge(one: IncidentHead, other: IncidentHead): number {
  return one.id - other.id;
}
