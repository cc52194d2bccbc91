import { And, In, LessThan, type EntityManager } from 'typeorm';
import type { SomeApps } from '../../platform/user/grant.js';
import {
  inApps,
  allOf,
  EVERY_SHARD,
  type Condition,
  type Where,
  uuidsIn,
} from '../../store/tables/conditions.js';
import type { RawRow } from '../../store/tables/column-values.js';
import { readTogether } from '../../store/tables/read-together.js';
import { isSharded, shardOf } from '../../store/shards.js';
import { filledUp } from '../../store/tables/selection.js';
import { Table } from '../../store/tables/table.js';
import { INCIDENT_STATES } from '../model/process-runtime.types.js';
import { ProcessIncidentEntity, INCIDENT_COUNT_ID, IncidentCountEntity } from './process-incident.entity.js';
import type { IncidentCountDto, IncidentFilterDto, IncidentsQueryDto } from '../model/incident-inbox.dto.js';

const INCIDENTS = new Table(ProcessIncidentEntity, { instanceId: shardOf });
const PLACE = INCIDENTS.select('id', 'instanceId', 'uuid');
const STOPPED_AT = INCIDENTS.select('instanceId', 'state', 'element');
const LISTED = INCIDENTS.selectAllBut('job', 'workKey', 'visit', 'node');
/** Number of newest builds of a version whose incidents are found on a sharded database. Others are left out. */
const MAX_BUILDS = 1_000;
const OPEN = { state: 'OPEN', shard: EVERY_SHARD } as const;

/** Columns of an incident in lists. */
export type ListedIncident = Omit<ProcessIncidentEntity, 'job' | 'workKey' | 'visit' | 'node'>;

/** Options for listing or counting incidents. */
interface IncidentListOptions<Query = IncidentFilterDto> {
  query: Query;
  /** Only incidents of these applications; null for all. */
  apps: SomeApps | null;
  limit: number;
}

/** Element at which an instance stopped. */
export type StoppedAt = Pick<ProcessIncidentEntity, 'instanceId' | 'state' | 'element'>;

/** Lists incidents across all instances, newest first by uuid, which starts with the time when they were first raised. */
export const IncidentLists = {
  async page(
    manager: EntityManager,
    options: IncidentListOptions<IncidentsQueryDto>,
  ): Promise<ListedIncident[]> {
    const { query, limit } = options;
    const where = conditionsOf(query);
    const and = await appConditions(manager, options);
    if (and === null) {
      return [];
    }
    // One query per state because indexes have the state before the uuid.
    const states = query.state === undefined ? INCIDENT_STATES : [query.state];
    const found = await readTogether(
      manager,
      states.map((state) =>
        PLACE.part(manager, { ...where, state }, { order: { uuid: 'DESC' }, limit, and }),
      ),
    );
    const places = newestFirst(found.flat()).slice(0, limit);
    const id = In(places.map((place) => place.id));
    const instanceId = In(places.map((place) => place.instanceId));
    return newestFirst(await LISTED.find(manager, { id, instanceId }));
  },

  /** Counts open incidents by application, process, element and type, highest first. */
  async counts(manager: EntityManager, options: IncidentListOptions): Promise<IncidentCountDto[]> {
    const where = { ...conditionsOf(options.query), state: 'OPEN' } as const;
    const and = await appConditions(manager, options);
    if (and === null) {
      return [];
    }
    const { from, values } = PLACE.part(manager, where, { and });
    const groups = 'app_id, process_name, element, type';
    const rows = await manager.query<RawRow[]>(
      `SELECT ${groups}, COUNT(*) AS amount${from} GROUP BY ${groups} ORDER BY amount DESC, ${groups} LIMIT ?`,
      [...values, options.limit],
    );
    return rows.map((row) => ({
      applicationId: String(row['app_id']),
      processDefinitionName: String(row['process_name']),
      bpmnElementId: row['element'] as string | null,
      code: row['type'] as IncidentCountDto['code'],
      open: Number(row['amount']),
    }));
  },

  /**
   * Returns the ids of instances with open incidents, in no order.
   * @param applicationId application of the instances; undefined for all
   * @returns null if there are more than `limit`
   */
  async openInstances(
    manager: EntityManager,
    applicationId: string | undefined,
    limit: number,
  ): Promise<number[] | null> {
    const where = { ...OPEN, ...(applicationId !== undefined && { appId: applicationId }) };
    const { from, values } = PLACE.part(manager, where);
    const rows = await manager.query<RawRow[]>(`SELECT DISTINCT instance_id${from} LIMIT ?`, [
      ...values,
      limit + 1,
    ]);
    return rows.length > limit ? null : rows.map((row) => Number(row['instance_id']));
  },

  /** Returns the open and closed incidents of instances, in no order. */
  async incidentsOf(
    manager: EntityManager,
    instanceIds: readonly number[],
    limit: number,
  ): Promise<StoppedAt[]> {
    return STOPPED_AT.find(manager, { instanceId: In([...instanceIds]) }, { limit });
  },

  /** Counts open incidents by type. */
  async openByType(manager: EntityManager): Promise<Record<string, number>> {
    const { from, values } = PLACE.part(manager, OPEN);
    const rows = await manager.query<RawRow[]>(`SELECT type, COUNT(*) AS amount${from} GROUP BY type`, [
      ...values,
    ]);
    return Object.fromEntries(rows.map((row) => [String(row['type']), Number(row['amount'])]));
  },
};

/** Sorts rows newest first by uuid, which starts with a time. */
export function newestFirst<Row extends { uuid: string }>(rows: readonly Row[]): Row[] {
  return rows.toSorted((one, other) => (one.uuid < other.uuid ? 1 : -1));
}

function conditionsOf(query: IncidentFilterDto & { before?: string }): Where<ProcessIncidentEntity> {
  const { applicationId, buildId, processDefinitionName, bpmnElementId, code, before } = query;
  const uuid = [...uuidsIn(query), ...(before === undefined ? [] : [LessThan(before)])];
  return {
    shard: EVERY_SHARD,
    ...(applicationId !== undefined && { appId: applicationId }),
    ...(buildId !== undefined && { buildId }),
    ...(processDefinitionName !== undefined && { processName: processDefinitionName }),
    ...(bpmnElementId !== undefined && { element: bpmnElementId }),
    ...(code !== undefined && { type: code }),
    ...(uuid.length > 0 && { uuid: And(...uuid) }),
  };
}

/**
 * Returns the conditions on applications and on the application version.
 * @returns null if nothing can match
 */
async function appConditions(
  manager: EntityManager,
  { query: { applicationVersionId }, apps }: IncidentListOptions,
): Promise<Condition | null> {
  const conditions = [inApps(manager, 'app_id', apps)];
  if (applicationVersionId !== undefined) {
    const builds = await buildsOf(manager, applicationVersionId);
    if (builds === null) {
      return null;
    }
    conditions.push(builds);
  }
  return allOf(conditions);
}

/**
 * Returns the condition on the builds of a version. On a sharded database builds are stored apart from running processes
 * (deploy/vitess/README.md), so the newest build ids are read first.
 * @returns null if the version has no build
 */
async function buildsOf(manager: EntityManager, version: string): Promise<Condition | null> {
  const ofVersion = 'SELECT build_id FROM builds WHERE app_version_id = ?';
  if (!isSharded(manager)) {
    return { sql: `build_id IN (${ofVersion})`, values: [version] };
  }
  const rows = await manager.query<RawRow[]>(`${ofVersion} ORDER BY build_id DESC LIMIT ?`, [
    version,
    MAX_BUILDS,
  ]);
  const values = rows.length === 0 ? [] : filledUp(rows.map((row) => String(row['build_id'])));
  return values.length === 0 ? null : { sql: `build_id IN (${values.map(() => '?').join(', ')})`, values };
}

const COUNTS = new Table(IncidentCountEntity);
const COUNT = COUNTS.select('counts', 'dueAt');
const LONG_AGO = new Date(0);

/** Stores the last count of open incidents for all replicas. */
export const IncidentCounts = {
  /** Returns the last count; null before the first. */
  async find(manager: EntityManager): Promise<Pick<IncidentCountEntity, 'counts' | 'dueAt'> | null> {
    return COUNT.first(manager, { id: INCIDENT_COUNT_ID });
  },

  /**
   * Claims the next count for this replica.
   * @param seen due time that this replica has read; null if there was no count
   * @returns false if another replica has claimed it
   */
  async claim(manager: EntityManager, seen: Date | null, dueAt: Date): Promise<boolean> {
    if (seen === null) {
      await COUNTS.ensure(manager, { id: INCIDENT_COUNT_ID, counts: {}, dueAt: LONG_AGO });
    }
    const due = { id: INCIDENT_COUNT_ID, dueAt: seen ?? LONG_AGO };
    return (await COUNTS.update(manager, due, { dueAt })) === 1;
  },

  async store(manager: EntityManager, counts: Record<string, number>, dueAt: Date): Promise<void> {
    await COUNTS.update(manager, { id: INCIDENT_COUNT_ID }, { counts, dueAt });
  },
};
