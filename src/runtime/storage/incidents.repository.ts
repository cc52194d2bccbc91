import { In, Like } from 'typeorm';
import type { Sender } from '../../store/groups/step-transaction.js';
import { shardOf } from '../../store/shards.js';
import { Table } from '../../store/tables/table.js';
import type { InstanceHead } from './process-instance.entity.js';
import type { IncidentState } from '../model/process-runtime.types.js';
import { ProcessIncidentEntity } from './process-incident.entity.js';

type OfInstance = 'shard' | 'instanceId' | 'appId' | 'buildId' | 'processName';

/** Why an instance stopped. */
export type IncidentRow = Omit<ProcessIncidentEntity, OfInstance>;

export type IncidentOwner = Pick<InstanceHead, 'id' | 'shard' | 'appId' | 'buildId' | 'processName'>;

/** An incident without the job, which may be large. */
export type IncidentHead = Omit<IncidentRow, 'job'>;

const INCIDENTS = new Table(ProcessIncidentEntity, { instanceId: shardOf });
const OF_INSTANCE = ['shard', 'instanceId', 'appId', 'buildId', 'processName'] as const;
const WHOLE = INCIDENTS.selectAllBut(...OF_INSTANCE);
const HEAD = INCIDENTS.selectAllBut(...OF_INSTANCE, 'job');
const ID = INCIDENTS.select('id');
const JOB = INCIDENTS.select('id', 'job');
const OPEN = { state: 'OPEN' } as const;

const MESSAGE_MAX_LENGTH = 2_000;
/** Kind of the job with which a called process answers. */
const ANSWER = 'NOTIFY_PARENT';

export const Incidents = {
  async insert(
    manager: Sender,
    { id: instanceId, shard, appId, buildId, processName }: IncidentOwner,
    incident: IncidentRow,
  ): Promise<void> {
    const place = { instanceId, shard, appId, buildId, processName };
    await INCIDENTS.insert(manager, [
      { ...incident, ...place, message: cut(incident.message, MESSAGE_MAX_LENGTH) },
    ]);
  },

  /** What an open incident tells now: the same work has failed once more. */
  async refresh(manager: Sender, instanceId: number, id: number, incident: IncidentRow): Promise<void> {
    const { source, type, message, node, element, actionSvcUuid, workflowRunId, requestId, raisedAt } =
      incident;
    const told = { source, type, message: cut(message, MESSAGE_MAX_LENGTH), node, element, actionSvcUuid };
    const changes = { ...told, workflowRunId, requestId, raisedAt };
    await INCIDENTS.update(manager, { id, instanceId }, changes);
  },

  async open(manager: Sender, instanceId: number): Promise<IncidentHead[]> {
    return (await HEAD.find(manager, { instanceId, ...OPEN })).toSorted(byAge);
  },

  /** Ids of the called processes whose answers stopped an instance, by the id of the open incident. */
  async childrenOfOpen(manager: Sender, instanceId: number): Promise<Map<number, number>> {
    // Only answers are read: work of other kinds may be as large as process data.
    const job = Like(`%${ANSWER}%`);
    const answers = await JOB.find(manager, { instanceId, ...OPEN, source: 'SUBPROCESS', job });
    return new Map(
      answers.flatMap(({ id, job }) =>
        job?.kind === ANSWER && job.instanceId !== null ? [[id, job.instanceId]] : [],
      ),
    );
  },

  /** The open incidents of these tokens, oldest first. */
  async openOfTokens(
    manager: Sender,
    instanceId: number,
    tokenIds: readonly number[],
  ): Promise<IncidentHead[]> {
    const found = await HEAD.find(manager, { instanceId, ...OPEN, tokenId: In(tokenIds) });
    return found.toSorted(byAge);
  },

  /** With their jobs, oldest first. @param place null for those that are about the whole instance */
  async openAt(
    manager: Sender,
    instanceId: number,
    place: { tokenId: number; visit: number } | null,
  ): Promise<IncidentRow[]> {
    const found = await WHOLE.find(manager, { instanceId, ...OPEN, ...(place ?? { tokenId: null }) });
    return found.toSorted(byAge);
  },

  /** The open incident of this work; null when there is none. */
  async openOf(manager: Sender, instanceId: number, workKey: string): Promise<IncidentHead | null> {
    return HEAD.first(manager, { instanceId, ...OPEN, workKey });
  },

  /** Which of these incidents of an instance are still open. */
  async stillOpen<Row extends IncidentHead>(
    manager: Sender,
    instanceId: number,
    incidents: readonly Row[],
  ): Promise<Row[]> {
    const rows = await ID.find(manager, { ...OPEN, id: In(incidents.map(({ id }) => id)), instanceId });
    const open = new Set(rows.map(({ id }) => id));
    return incidents.filter(({ id }) => open.has(id));
  },

  /** Ends incidents of an instance. What was to be run again holds process data, and nothing asks for it any more. */
  async close(
    manager: Sender,
    instanceId: number,
    ids: readonly number[],
    state: IncidentState,
    closedAt: Date,
  ): Promise<void> {
    await INCIDENTS.update(manager, { id: In(ids), instanceId }, { state, closedAt, job: null });
  },
};

/** To what a column holds, counted by code points. */
export function cut(text: string, length: number): string {
  return Array.from(text.replace(/\p{Cs}/gu, '\ufffd'))
    .slice(0, length)
    .join('');
}

function byAge(one: IncidentHead, other: IncidentHead): number {
  return one.id - other.id;
}
