import { Injectable } from '@nestjs/common';
import { And, In, LessThan, type EntityManager, type FindOperator } from 'typeorm';
import { timeOfUuid } from '../../platform/ordered-uuid.js';
import type { SomeApps } from '../../platform/user/grant.js';
import {
  inApps,
  allOf,
  EVERY_SHARD,
  type Condition,
  type Where,
  uuidsIn,
  type TimeRange,
} from '../../store/tables/conditions.js';
import { inParts } from '../../store/tables/statement-batches.js';
import type { RawRow } from '../../store/tables/column-values.js';
import { readTogether } from '../../store/tables/read-together.js';
import type { Found } from '../../store/tables/selection.js';
import { shardOf, shardOfUuid } from '../../store/shards.js';
import { Table } from '../../store/tables/table.js';
import { type InstanceStatus, INSTANCE_STATES } from '#engine/tokens';
import type { RunningProcessDto } from '../model/running-processes.dto.js';
import type { InstanceQuery } from '../model/process-runtime.types.js';
import { type InstanceHead, ProcessInstanceEntity } from './process-instance.entity.js';
import { IncidentLists, newestFirst } from './incident-lists.repository.js';
import { calledBy, Instances } from './instances.repository.js';
import { findBySearchValues, hasSearchValue, type DataSearch } from './search-values.js';
import { seenAtAll, seenParts, seenValues, type Seen } from './seen-instances.js';

const INSTANCES = new Table(ProcessInstanceEntity, { id: shardOf, uuid: shardOfUuid });
const PLACE = INSTANCES.select('id', 'uuid');
const TRAIL = INSTANCES.select('id', 'state', 'seq');
const REVISION = INSTANCES.select('id', 'rev', 'state');

/** Up to this many stopped instances are selected by id. */
const FEW_STOPPED = 5_000;
/** Up to this many instances with a searched value are selected by id. */
const FEW_SEARCHED = 1_000;
/** Condition for more stopped instances. Incidents are in the same shard as their instance. */
const STOPPED: Condition = {
  sql:
    "EXISTS (SELECT 1 FROM process_incidents stopped WHERE stopped.shard = process_instances.shard AND stopped.state = 'OPEN' " +
    'AND stopped.instance_id = process_instances.id)',
  values: [],
};

type Place = Pick<ProcessInstanceEntity, 'id' | 'uuid'>;

/** Options for listing instances. */
interface InstanceListOptions {
  query: InstanceQuery;
  /** Instances that the caller may see; null for all. */
  seen: Seen | null;
  limit: number;
}

/** Additional filter of a list: ids of a few instances, or conditions. */
interface ListFilter {
  ids: number[] | null;
  conditions: Condition[];
}

/** Instance with the number of its events. */
export type InstanceTrailHead = Pick<ProcessInstanceEntity, 'id' | 'state' | 'seq'>;

/** Revision and state of an instance. */
type InstanceRevision = Pick<ProcessInstanceEntity, 'id' | 'rev' | 'state'>;

/** Lists instances, newest first by uuid, which starts with the start time. */
@Injectable()
export class InstanceListsRepository {
  private readonly maxStopped: number = FEW_STOPPED;
  private readonly maxSearched: number = FEW_SEARCHED;

  async page(manager: EntityManager, options: InstanceListOptions): Promise<InstanceHead[]> {
    const places = await this.places(manager, options);
    const ids = places.map(({ id }) => id);
    // Reads ids first because the server would have to sort rows with long texts.
    return newestFirst(await Instances.heads(manager, ids));
  }

  /** Returns a page with only id and uuid of each instance. */
  async places(manager: EntityManager, { query, seen, limit }: InstanceListOptions): Promise<Place[]> {
    const { parentProcessInstanceUuid: uuid } = query;
    const parent = uuid === undefined ? undefined : await Instances.findHead(manager, { uuid });
    if (parent === null) {
      return [];
    }
    if (isSearchOnly(query)) {
      return findBySearchValues(manager, searchOf(manager, query, seen), limit);
    }
    const narrowed = await this.narrowed(manager, query, seen);
    const where = {
      ...(narrowed.ids === null ? { shard: EVERY_SHARD } : { id: In(narrowed.ids) }),
      ...conditionsOf(query),
      ...(parent && calledBy(parent.id)),
    };
    const parts = narrowed.ids === null ? seenParts(query, seen) : null;
    const and = allOf([...(parts === null ? seenAtAll(manager, seen) : []), ...narrowed.conditions]);
    const wheres = (parts ?? [{}]).map((part) => ({ ...where, ...part }));
    const found = await this.found(manager, query, wheres, { order: { uuid: 'DESC' }, limit, and });
    return newestFirst(found).slice(0, limit);
  }

  private async narrowed(
    manager: EntityManager,
    query: InstanceQuery,
    seen: Seen | null,
  ): Promise<ListFilter> {
    const parts = [await this.searched(manager, query, seen), await this.stopped(manager, query)];
    return {
      ids: intersection(parts.flatMap(({ ids }) => (ids === null ? [] : [ids]))),
      conditions: parts.flatMap(({ conditions }) => conditions),
    };
  }

  /** Filters by searched values of data. */
  private async searched(
    manager: EntityManager,
    query: InstanceQuery,
    seen: Seen | null,
  ): Promise<ListFilter> {
    const search = searchOf(manager, query, seen);
    const { terms } = search;
    if (terms.length === 0) {
      return { ids: null, conditions: [] };
    }
    const found = await findBySearchValues(manager, search, this.maxSearched + 1);
    return found.length > this.maxSearched
      ? { ids: null, conditions: terms.map((term) => hasSearchValue(manager, 'process_instances', term)) }
      : { ids: found.map(({ id }) => id), conditions: [] };
  }

  /** Filters instances with open incidents. */
  private async stopped(
    manager: EntityManager,
    { hasIncidents, applicationId }: InstanceQuery,
  ): Promise<ListFilter> {
    if (hasIncidents !== 'true') {
      return { ids: null, conditions: [] };
    }
    const ids = await IncidentLists.openInstances(manager, applicationId, this.maxStopped);
    return { ids, conditions: ids === null ? [STOPPED] : [] };
  }

  private async found(
    manager: EntityManager,
    query: InstanceQuery,
    wheres: readonly Where<ProcessInstanceEntity>[],
    page: Required<Pick<Found<ProcessInstanceEntity>, 'order' | 'limit'>> &
      Pick<Found<ProcessInstanceEntity>, 'and'>,
  ): Promise<Place[]> {
    const [first = {}] = wheres;
    if ('id' in first) {
      return PLACE.find(manager, { ...first, ...(query.state && { state: query.state }) }, page);
    }
    const parts = wheres.flatMap((where) =>
      statesOf(query, where).map((state) => PLACE.part(manager, { ...where, ...(state && { state }) }, page)),
    );
    const found = (await readTogether(manager, parts)).flat();
    // Instances that the caller started may also be in an application that they may read.
    return [...new Map(found.map((one) => [one.id, one])).values()];
  }

  /** Counts running instances by application and process, highest first. @param apps null for all */
  async running(manager: EntityManager, apps: SomeApps | null, limit: number): Promise<RunningProcessDto[]> {
    const where = { state: 'STARTED', shard: EVERY_SHARD } as const;
    const { from, values } = PLACE.part(manager, where, { and: inApps(manager, 'app_id', apps) });
    const groups = 'app_id, process_name';
    const rows = await manager.query<RawRow[]>(
      `SELECT ${groups}, COUNT(*) AS amount, MIN(uuid) AS oldest, MAX(uuid) AS newest${from} GROUP BY ${groups} ` +
        `ORDER BY amount DESC, ${groups} LIMIT ?`,
      [...values, limit],
    );
    return rows.map((row) => ({
      applicationId: String(row['app_id']),
      processDefinitionName: String(row['process_name']),
      running: Number(row['amount']),
      oldestStartedAt: timeOfUuid(String(row['oldest'])).toISOString(),
      newestStartedAt: timeOfUuid(String(row['newest'])).toISOString(),
    }));
  }

  /** Returns instances of a definition that started in a time range, newest first. */
  async ofDefinition(
    manager: EntityManager,
    definitionId: number,
    range: TimeRange,
    limit: number,
  ): Promise<InstanceTrailHead[]> {
    const uuid = uuidsIn(range);
    const where = { definitionId, shard: EVERY_SHARD, ...(uuid.length > 0 && { uuid: And(...uuid) }) };
    return TRAIL.find(manager, where, { order: { uuid: 'DESC' }, limit });
  }

  /** Returns the ids of instances of a build in one of these states. */
  async ofBuild(
    manager: EntityManager,
    { appId, buildId }: { appId: string; buildId: string },
    states: readonly InstanceStatus[],
    limit: number,
  ): Promise<number[]> {
    const ids: number[] = [];
    for (const state of states) {
      const where = { shard: EVERY_SHARD, appId, state, buildId };
      const found = await PLACE.find(manager, where, { order: { uuid: 'ASC' }, limit });
      ids.push(...found.map(({ id }) => id));
    }
    return ids;
  }

  async revisions(manager: EntityManager, ids: readonly number[]): Promise<InstanceRevision[]> {
    const found: InstanceRevision[] = [];
    for (const part of inParts(ids)) {
      found.push(...(await REVISION.find(manager, { id: In(part) })));
    }
    return found;
  }
}

/**
 * Returns the states to query separately, if the index has the state between the filter columns and the uuid: a list without
 * results must not scan a whole application. Other lists use an index without the state.
 */
function statesOf(
  { state, parentProcessInstanceUuid }: InstanceQuery,
  where: Where<ProcessInstanceEntity>,
): readonly (InstanceStatus | undefined)[] {
  const isByState = 'appId' in where || 'processName' in where || 'starter' in where;
  return state === undefined && parentProcessInstanceUuid === undefined && isByState
    ? INSTANCE_STATES
    : [state];
}

function searchOf(manager: EntityManager, query: InstanceQuery, seen: Seen | null): DataSearch {
  return { terms: query.data ?? [], uuid: uuidsOf(query), seen: seenValues(manager, query, seen) };
}

/** Whether the index of search values covers all filters. */
function isSearchOnly(query: InstanceQuery): boolean {
  const { data = [], processDefinitionName, state, hasIncidents, parentProcessInstanceUuid } = query;
  const others = [processDefinitionName, state, hasIncidents, parentProcessInstanceUuid];
  return data.length > 0 && others.every((other) => other === undefined);
}

/** Returns the ids contained in all lists; null without lists. */
function intersection([first, ...others]: readonly number[][]): number[] | null {
  const sets = others.map((ids) => new Set(ids));
  return first?.filter((id) => sets.every((set) => set.has(id))) ?? null;
}

function uuidsOf(query: InstanceQuery): FindOperator<string>[] {
  const { before } = query;
  return [...uuidsIn(query), ...(before === undefined ? [] : [LessThan(before)])];
}

function conditionsOf(query: InstanceQuery): Where<ProcessInstanceEntity> {
  const { applicationId, processDefinitionName, hasIncidents } = query;
  const uuid = uuidsOf(query);
  return {
    ...(applicationId !== undefined && { appId: applicationId }),
    ...(processDefinitionName !== undefined && { processName: processDefinitionName }),
    ...(hasIncidents === 'false' && { openIncidents: 0 }),
    ...(uuid.length > 0 && { uuid: And(...uuid) }),
  };
}
