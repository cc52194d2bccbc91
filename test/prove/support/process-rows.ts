import type { RawRow } from '../../../src/database/raw-row.js';
import { toSafeInteger } from '../../../src/database/safe-integer.js';
import { toStoredText } from '../../../src/database/stored-text.js';
import type { ProcessGraph } from '../../../src/modules/process-definitions/model/process-graph.types.js';
import type {
  EngineEvent,
  InstanceState,
  TokenState,
} from '../../../src/modules/process-runtime/engine/state/engine.types.js';
import { RuntimeDefinition } from '../../../src/modules/process-runtime/engine/state/runtime-definition.js';
import {
  HEAD_COLUMNS,
  toInstanceRow,
  type InstanceRow,
} from '../../../src/modules/process-runtime/storage/instance.row.js';
import { TOKEN_COLUMNS, toTokenRow } from '../../../src/modules/process-runtime/storage/token.row.js';
import type { Background } from '../../support/runtime/invariants.js';
import type { MemoryInstance } from '../../support/runtime/memory-engine.js';
import { Snapshots, type Select } from './process-snapshots.js';

/** An instance as its rows tell of it, with everything that belongs to it. */
export interface StoredInstance extends MemoryInstance, Background {
  row: InstanceRow;
}

/** Reads process instances past the service, over a connection of its own: an independent witness of what is stored. */
export class ProcessRows {
  private readonly definitions = new Map<number, RuntimeDefinition>();

  private constructor(private readonly snapshots: Snapshots) {}

  static async open(databaseUrl: string): Promise<ProcessRows> {
    return new ProcessRows(await Snapshots.open(databaseUrl));
  }

  close(): Promise<void> {
    return this.snapshots.close();
  }

  /** Every instance there is, or those with these UUIDs, in the order of their ids, all as of the same moment. */
  instances(...uuids: string[]): Promise<StoredInstance[]> {
    return this.snapshots.read(async (select) => {
      const some = uuids.length > 0 ? ` WHERE uuid IN (${placeholders(uuids)})` : '';
      const rows = await select(`SELECT ${HEAD_COLUMNS}, content FROM process_instances${some}`, uuids);
      const found = rows.map(toInstanceRow).toSorted((one, other) => one.id - other.id);
      await this.loadDefinitions(select, found);
      const parts = await partsOf(select, uuids.length > 0 ? found.map(({ id }) => id) : undefined);
      return found.map((row) => this.assemble(row, parts));
    });
  }

  /** How many deadlocks the server has resolved since it started. */
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
    const of = (part: keyof Parts): RawRow[] => parts[part].get(row.id) ?? [];
    const rows = of('tokens').map((token) => ({
      live: Number(token['live']) === 1,
      token: toTokenRow(token).state,
    }));
    const tokens = rows.toSorted((one, other) => one.token.id - other.token.id);
    return {
      row,
      definition,
      state: toState(
        row,
        tokens.flatMap(({ live, token }) => (live ? [token] : [])),
      ),
      tokens: new Map(tokens.map(({ token }) => [token.id, token])),
      events: of('events')
        .map(toEvent)
        .toSorted((one, other) => one.seq - other.seq),
      jobs: of('jobs').map((job) => ({ instanceId: row.id, job: toJob(job) })),
      waits: of('waits').map((wait) => ({
        instanceId: row.id,
        tokenId: toSafeInteger(wait['token_id']),
        visit: Number(wait['visit']),
      })),
      parent: row.parent === null ? null : { ...row.parent, instanceId: row.parent.id },
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
      `SELECT id, graph FROM build_definitions WHERE id IN (${placeholders(ids)})`,
      ids,
    );
    for (const row of rows) {
      const graph = JSON.parse(toStoredText(row['graph'])) as ProcessGraph;
      this.definitions.set(toSafeInteger(row['id']), new RuntimeDefinition(graph));
    }
  }
}

/** Rows that belong to instances, by instance. */
type Parts = Record<'tokens' | 'events' | 'jobs' | 'waits', Map<number, RawRow[]>>;

/** Keys of the nodes where tokens wait to be acted on, by the UUID of the token. */
export function activeTokens({ state, definition }: MemoryInstance): Map<string, string> {
  const active = [...state.tokens.values()].filter((token) => token.state === 'ACTIVE');
  return new Map(active.map(({ uuid, node }) => [definition.node(node).key, uuid]));
}

async function partsOf(select: Select, ids: number[] | undefined): Promise<Parts> {
  const some = ids === undefined ? '' : ` WHERE instance_id IN (${placeholders(ids)})`;
  const of = async (columns: string, table: string): Promise<Map<number, RawRow[]>> =>
    byInstance(
      ids?.length === 0 ? [] : await select(`SELECT instance_id, ${columns} FROM ${table}${some}`, ids),
    );
  return {
    tokens: await of(`live, ${TOKEN_COLUMNS}`, 'process_tokens'),
    events: await of('seq, kind, token_id, node, data', 'process_events'),
    jobs: await of('kind, payload', 'runtime_jobs'),
    waits: await of('token_id, visit', 'process_message_waits'),
  };
}

function byInstance(rows: readonly RawRow[]): Map<number, RawRow[]> {
  const found = new Map<number, RawRow[]>();
  for (const row of rows) {
    const id = row['instance_id'] === null ? 0 : toSafeInteger(row['instance_id']);
    const known = found.get(id);
    if (known === undefined) {
      found.set(id, [row]);
    } else {
      known.push(row);
    }
  }
  return found;
}

function toState(
  { id, uuid, state, seq, content, parent }: InstanceRow,
  live: readonly TokenState[],
): InstanceState {
  const { data, joins, returnPoints, executions = [], pending, continues, backCounter } = content;
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
    parentUuid: parent?.uuid ?? null,
    tokens,
  };
}

function toEvent(row: RawRow): EngineEvent {
  return {
    seq: Number(row['seq']),
    kind: row['kind'] as EngineEvent['kind'],
    tokenId: row['token_id'] === null ? null : toSafeInteger(row['token_id']),
    node: row['node'] === null ? null : Number(row['node']),
    data: row['data'] === null ? null : (JSON.parse(toStoredText(row['data'])) as EngineEvent['data']),
  };
}

function toJob(row: RawRow): Background['jobs'][number]['job'] {
  return { ...(JSON.parse(toStoredText(row['payload'])) as object), kind: row['kind'] as string };
}

function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}
