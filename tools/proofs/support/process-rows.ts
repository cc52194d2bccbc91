import { type RawRow, toStoredText } from '../../../src/store/tables/column-values.js';
import { Table } from '../../../src/store/tables/table.js';
import { BuildDefinitionEntity } from '../../../src/delivery/builds/storage/build.entity.js';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import type { ProcessGraph } from '#engine/definitions';
import { type EngineEvent, type InstanceState, type TokenState, RuntimeDefinition } from '#engine/tokens';
import {
  isCalled,
  type ParentLink,
  type InstanceRow,
  ProcessInstanceEntity,
} from '../../../src/runtime/storage/process-instance.entity.js';
import { eventsOf } from '../../../src/runtime/storage/events.repository.js';
import { ProcessEventEntity } from '../../../src/runtime/storage/process-event.entity.js';
import { ProcessMessageWaitEntity } from '../../../src/runtime/storage/process-message.entity.js';
import { ProcessTokenEntity, toTokenRow } from '../../../src/runtime/storage/process-token.entity.js';
import { type Background, checkInvariants } from '../../../packages/engine/test/support/invariants.js';
import type { MemoryInstance } from '../../../packages/engine/test/support/memory-engine.js';
import { Snapshots, type Select } from './rows.js';
import { prove } from './proof.js';

// These tables only provide column lists. They run no statements, so they need no shard.
const INSTANCE = new Table(ProcessInstanceEntity, {}).selectAllBut('parentKey');
const TOKEN = new Table(ProcessTokenEntity, {}).selectAllBut('shard', 'createdAt');
const EVENT = new Table(ProcessEventEntity, {}).selectAllBut('shard');
const JOB = new Table(RuntimeJobEntity, {}).select('instanceId', 'kind', 'payload');
const WAIT = new Table(ProcessMessageWaitEntity, {}).select('instanceId', 'tokenId', 'visit');
const DEFINITION = new Table(BuildDefinitionEntity).select('id', 'graph');

/** An instance as stored in its rows, including everything that belongs to it. */
export interface StoredInstance extends MemoryInstance, Background {
  row: InstanceRow;
}

/** Reads process instances directly from the database, as independent evidence of what is stored. */
export class ProcessRows {
  private readonly definitions = new Map<number, RuntimeDefinition>();

  private constructor(private readonly snapshots: Snapshots) {}

  static async open(databaseUrl: string): Promise<ProcessRows> {
    return new ProcessRows(await Snapshots.open(databaseUrl));
  }

  close(): Promise<void> {
    return this.snapshots.close();
  }

  /** Returns all instances, or those with the given UUIDs, ordered by id and read in one snapshot. */
  instances(...uuids: string[]): Promise<StoredInstance[]> {
    return this.snapshots.read(async (select) => {
      const some = uuids.length > 0 ? ` WHERE uuid IN (${placeholders(uuids)})` : '';
      const rows = await select(`SELECT ${INSTANCE.columns()} FROM process_instances${some}`, uuids);
      const found = INSTANCE.rows(rows).toSorted((one, other) => one.id - other.id);
      await this.loadDefinitions(select, found);
      const parts = await partsOf(select, uuids.length > 0 ? found.map(({ id }) => id) : undefined);
      return found.map((row) => this.assemble(row, parts));
    });
  }

  /** Returns the number of deadlocks that the server has resolved since it started. */
  deadlocks(): Promise<number> {
    return this.snapshots.read(async (select) => {
      const counter =
        "SELECT COUNT AS deadlocks FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_deadlocks'";
      const [row] = await select(counter);
      return Number(row?.['deadlocks']);
    });
  }

  private assemble(row: InstanceRow, parts: Parts): StoredInstance {
    const definition = this.definitions.get(row.definitionId);
    if (definition === undefined) {
      throw new Error(`definition ${row.definitionId} of an instance is not stored`);
    }
    const rows = (parts.tokens.get(row.id) ?? []).map((stored) => {
      const { live, ...token } = withoutInstance(stored);
      return { live, token: toTokenRow(token).state };
    });
    const tokens = rows.toSorted((one, other) => one.token.id - other.token.id);
    return {
      row,
      definition,
      state: toState(
        row,
        tokens.flatMap(({ live, token }) => (live ? [token] : [])),
      ),
      tokens: new Map(tokens.map(({ token }) => [token.id, token])),
      events: (parts.events.get(row.id) ?? [])
        .map(({ seq, kind, tokenId, node, data }) => ({ seq, kind, tokenId, node, data }) as EngineEvent)
        .toSorted((one, other) => one.seq - other.seq),
      jobs: (parts.jobs.get(row.id) ?? []).map((job) => ({ instanceId: row.id, job: toJob(job) })),
      waits: parts.waits.get(row.id) ?? [],
      parent: isCalled(row) ? parentOf(row) : null,
      warnings: [],
    };
  }

  private async loadDefinitions(select: Select, instances: readonly InstanceRow[]): Promise<void> {
    const ids = [...new Set(instances.map(({ definitionId }) => definitionId))].filter(
      (id) => !this.definitions.has(id),
    );
    if (ids.length === 0) {
      return;
    }
    const rows = await select(
      `SELECT ${DEFINITION.columns()} FROM build_definitions WHERE id IN (${placeholders(ids)})`,
      ids,
    );
    for (const { id, graph } of DEFINITION.rows(rows)) {
      this.definitions.set(id, new RuntimeDefinition(JSON.parse(graph) as ProcessGraph));
    }
  }
}

/** Rows belonging to instances, by instance id. */
type Parts = Awaited<ReturnType<typeof partsOf>>;

/** Returns the UUIDs of active tokens by the key of their node. */
export function activeTokens({ state, definition }: MemoryInstance): Map<string, string> {
  const active = [...state.tokens.values()].filter((token) => token.state === 'ACTIVE');
  return new Map(active.map(({ uuid, node }) => [definition.node(node).key, uuid]));
}

async function partsOf(select: Select, ids: number[] | undefined) {
  const some = ids === undefined ? '' : ` WHERE instance_id IN (${placeholders(ids)})`;
  const of = async <Read extends { instanceId: number | null }>(
    chosen: { columns: () => string; rows: (raw: RawRow[]) => Read[] },
    table: string,
  ): Promise<Map<number, Read[]>> =>
    byInstance(
      ids?.length === 0
        ? []
        : chosen.rows(await select(`SELECT ${chosen.columns()} FROM ${table}${some}`, ids)),
    );
  return {
    tokens: await of(TOKEN, 'process_tokens'),
    events: await of(
      { columns: () => EVENT.columns(), rows: (raw) => eventsOf(EVENT.rows(raw)) },
      'process_events',
    ),
    jobs: await of(JOB, 'runtime_jobs'),
    waits: await of(WAIT, 'process_message_waits'),
  };
}

function withoutInstance<Row extends { instanceId: unknown }>(row: Row): Omit<Row, 'instanceId'> {
  const { instanceId: _instanceId, ...rest } = row;
  return rest;
}

function byInstance<Read extends { instanceId: number | null }>(rows: readonly Read[]): Map<number, Read[]> {
  const found = new Map<number, Read[]>();
  for (const row of rows) {
    const id = row.instanceId ?? 0;
    found.set(id, [...(found.get(id) ?? []), row]);
  }
  return found;
}

function toState(
  { id, uuid, state, seq, content, parentUuid }: InstanceRow,
  live: readonly TokenState[],
): InstanceState {
  const { data, joins, returnPoints, executions, pending, continues, backCounter } = content;
  const tokens = new Map(live.map((token) => [token.id, token]));
  return {
    id,
    uuid,
    state,
    seq,
    data,
    joins,
    returnPoints,
    executions,
    pending,
    continues,
    backCounter,
    parentUuid,
    tokens,
  };
}

function toJob({
  kind,
  payload,
}: Pick<RuntimeJobEntity, 'kind' | 'payload'>): Background['jobs'][number]['job'] {
  return { ...(JSON.parse(toStoredText(payload)) as object), kind };
}

function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

function parentOf(link: ParentLink): StoredInstance['parent'] {
  return {
    instanceId: link.parentId,
    tokenId: link.parentTokenId,
    visit: link.parentVisit,
    index: link.parentIndex,
    seq: link.parentSeq,
    waits: link.parentWaits,
  };
}

const LIVE_STATES: ReadonlySet<string> = new Set(['ACTIVE', 'ON_HOLD', 'INACTIVE']);
/** Kinds of jobs that ended instances leave for others. */
const JOBS_AFTER_END: ReadonlySet<string> = new Set([
  'APPEND_TO_PARENT',
  'END_CHILDREN',
  'NOTIFY_PARENT',
  'PUBLISH_MESSAGE',
]);
const RUNNING: ReadonlySet<string> = new Set(['STARTED', 'ONHOLD']);

/**
 * Checks what must hold for the rows of an instance between two steps: the invariants of the engine, and that obsolete rows
 * are marked or deleted.
 * @throws Error that names the first violation
 */
export function checkRows(stored: StoredInstance): void {
  const { row, state, tokens, jobs } = stored;
  checkInvariants(stored, stored);
  for (const token of tokens.values()) {
    const live = state.tokens.has(token.id);
    prove(
      live ? LIVE_STATES.has(token.state) : token.state !== 'ACTIVE' && token.state !== 'ON_HOLD',
      `token ${token.uuid} is ${token.state} and ${live ? '' : 'not '}live`,
    );
  }
  prove(
    RUNNING.has(row.state) === (row.endedAt === null),
    `instance ${row.uuid} is ${row.state} and ${row.endedAt === null ? 'has not' : 'has'} ended`,
  );
  prove(row.openIncidents === 0, `instance ${row.uuid} has ${row.openIncidents} incidents`);
  prove(
    RUNNING.has(row.state) || jobs.every(({ job }) => JOBS_AFTER_END.has(job.kind)),
    `instance ${row.uuid} is ${row.state} and has the jobs ${jobs.map(({ job }) => job.kind).join(', ')}`,
  );
}

/** Returns how often tokens entered a node. */
export function entries({ events, definition }: StoredInstance, key: string): number {
  return events.filter(({ kind, node }) => kind === 'NODE_ENTERED' && definition.node(node ?? -1).key === key)
    .length;
}

/** Returns the number of events of a kind. */
export function count({ events }: StoredInstance, kind: string): number {
  return events.filter((event) => event.kind === kind).length;
}
