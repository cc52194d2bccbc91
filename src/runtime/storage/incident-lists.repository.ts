import { And, In, LessThan, type EntityManager } from 'typeorm';
import type { SomeApps } from '../../platform/user/grant.js';
import {
  inApps,
  both,
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
import {
  ProcessIncidentEntity,
  INCIDENT_COUNT_ID as id,
  IncidentCountEntity,
} from './process-incident.entity.js';
import type { IncidentCountDto, IncidentFilterDto, IncidentsQueryDto } from '../model/incident-inbox.dto.js';

const INCIDENTS = new Table(ProcessIncidentEntity, { instanceId: shardOf });
const PLACE = INCIDENTS.select('id', 'instanceId', 'uuid');
const STOPPED_AT = INCIDENTS.select('instanceId', 'state', 'element');
const LISTED = INCIDENTS.selectAllBut('job', 'workKey', 'visit', 'node');
/** Of a version, on a sharded database. */
const MOST_BUILDS = 1_000;
const OPEN = { state: 'OPEN', shard: EVERY_SHARD } as const;

/** An incident as a list shows it. */
export type ListedIncident = Omit<ProcessIncidentEntity, 'job' | 'workKey' | 'visit' | 'node'>;

/** Which incidents to list or to count. */
interface AskedIncidents<Query = IncidentFilterDto> {
  query: Query;
  /** Only those of these applications; null for all. */
  apps: SomeApps | null;
  /** How many at the most. */
  limit: number;
}

/** Where an instance has stopped. */
export type StoppedAt = Pick<ProcessIncidentEntity, 'instanceId' | 'state' | 'element'>;

/** Incidents over all instances, newest first: their uuids begin with the time when they were raised first. */
export const IncidentLists = {
  async page(manager: EntityManager, asked: AskedIncidents<IncidentsQueryDto>): Promise<ListedIncident[]> {
    const { query, limit } = asked;
    const where = conditionsOf(query);
    const and = await narrowed(manager, asked);
    if (and === null) {
      return [];
    }
    // Each state by itself, since indexes have it before the uuid.
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

  /** Open ones by application, process, element and type, most first. */
  async counts(manager: EntityManager, asked: AskedIncidents): Promise<IncidentCountDto[]> {
    const where = { ...conditionsOf(asked.query), state: 'OPEN' } as const;
    const and = await narrowed(manager, asked);
    if (and === null) {
      return [];
    }
    const { from, values } = PLACE.part(manager, where, { and });
    const groups = 'app_id, process_name, element, type';
    const rows = await manager.query<RawRow[]>(
      `SELECT ${groups}, COUNT(*) AS amount${from} GROUP BY ${groups} ORDER BY amount DESC, ${groups} LIMIT ?`,
      [...values, asked.limit],
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
   * Instances with open incidents, in no order.
   * @param applicationId of the instances; undefined for all
   * @returns null when there are more than `limit`
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

  /** Where instances have stopped, open incidents and closed ones, in no order. */
  async stops(manager: EntityManager, instanceIds: readonly number[], limit: number): Promise<StoppedAt[]> {
    return STOPPED_AT.find(manager, { instanceId: In([...instanceIds]) }, { limit });
  },

  /** How many incidents are open, by type. */
  async openByType(manager: EntityManager): Promise<Record<string, number>> {
    const { from, values } = PLACE.part(manager, OPEN);
    const rows = await manager.query<RawRow[]>(`SELECT type, COUNT(*) AS amount${from} GROUP BY type`, [
      ...values,
    ]);
    return Object.fromEntries(rows.map((row) => [String(row['type']), Number(row['amount'])]));
  },
};

/** Rows in the order of lists: their uuids begin with a time. */
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
 * What no column says by itself: the version of a build, and what a caller may see.
 * @returns null where it cannot be met
 */
async function narrowed(
  manager: EntityManager,
  { query: { applicationVersionId }, apps }: AskedIncidents,
): Promise<Condition | null> {
  const conditions = [inApps(manager, 'app_id', apps)];
  if (applicationVersionId !== undefined) {
    const builds = await buildsOf(manager, applicationVersionId);
    if (builds === null) {
      return null;
    }
    conditions.push(builds);
  }
  return both(conditions);
}

/**
 * Incidents of the builds of a version. A sharded database has builds elsewhere than running processes (deploy/vitess/README.md), so it is
 * asked for the newest of them first.
 * @returns null where there is no build
 */
async function buildsOf(manager: EntityManager, version: string): Promise<Condition | null> {
  const ofVersion = 'SELECT build_id FROM builds WHERE app_version_id = ?';
  if (!isSharded(manager)) {
    return { sql: `build_id IN (${ofVersion})`, values: [version] };
  }
  const rows = await manager.query<RawRow[]>(`${ofVersion} ORDER BY build_id DESC LIMIT ?`, [
    version,
    MOST_BUILDS,
  ]);
  const values = rows.length === 0 ? [] : filledUp(rows.map((row) => String(row['build_id'])));
  return values.length === 0 ? null : { sql: `build_id IN (${values.map(() => '?').join(', ')})`, values };
}

const COUNTS = new Table(IncidentCountEntity);
const COUNT = COUNTS.select('counts', 'dueAt');
const LONG_AGO = new Date(0);

/** The last count of open incidents, for all replicas. */
export const IncidentCounts = {
  /** Null before the first. */
  async find(manager: EntityManager): Promise<Pick<IncidentCountEntity, 'counts' | 'dueAt'> | null> {
    return COUNT.first(manager, { id });
  },

  /**
   * Takes the turn to count.
   * @param seen when it was due as this replica saw it; null where there was no count
   * @returns false where another replica has it
   */
  async claim(manager: EntityManager, seen: Date | null, dueAt: Date): Promise<boolean> {
    if (seen === null) {
      await COUNTS.ensure(manager, { id, counts: {}, dueAt: LONG_AGO });
    }
    return (await COUNTS.update(manager, { id, dueAt: seen ?? LONG_AGO }, { dueAt })) === 1;
  },

  async store(manager: EntityManager, counts: Record<string, number>, dueAt: Date): Promise<void> {
    await COUNTS.update(manager, { id }, { counts, dueAt });
  },
};
