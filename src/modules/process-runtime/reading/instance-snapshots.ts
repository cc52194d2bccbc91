import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Env } from '../../../config/env.js';
import { Database } from '../../../database/database.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { EventsRepository, type EventRow } from '../storage/events.repository.js';
import { IncidentsRepository, type IncidentHead } from '../storage/incidents.repository.js';
import type { InstanceHead, InstanceRow } from '../storage/instance.row.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import { TokensRepository } from '../storage/tokens.repository.js';
import type { TokenRow } from '../storage/token.row.js';

/** An instance between two steps. */
export interface InstanceSnapshot {
  row: InstanceRow;
  /** Those that a step would read, by id. */
  live: TokenRow[];
  /** The newest of the others, by id. */
  ended: TokenRow[];
  /** Open ones. */
  incidents: IncidentHead[];
  /** Uuids of the called processes that incidents are about, by the id of the incident. */
  failedChildren: ReadonlyMap<number, string>;
  /** The newest. */
  children: InstanceHead[];
  /** The newest, newest first. */
  events: EventRow[];
  /** Uuids of all tokens that the above name, by id. */
  tokenUuids: Map<number, string>;
}

const ATTEMPTS = 3;

/** Reads instances as they stand between two steps, although the rows are read one after the other. */
@Injectable()
export class InstanceSnapshots {
  /** How many of what an instance has very many of are shown. */
  readonly pageSize: number;

  constructor(
    private readonly database: Database,
    private readonly instances: InstancesRepository,
    private readonly tokens: TokensRepository,
    private readonly incidents: IncidentsRepository,
    private readonly events: EventsRepository,
    env: Env,
  ) {
    this.pageSize = env.get('PROCESS_PAGE_SIZE');
  }

  /** @throws ProcessInstanceNotFoundError */
  async read(uuid: string): Promise<InstanceSnapshot> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const snapshot = await this.database.read((manager) => this.attempt(manager, uuid));
      if (snapshot !== undefined) {
        return snapshot;
      }
    }
    // An instance with steps in quick succession: they wait for this one. It only reads, so nothing counts as stored.
    return this.database.writeAside(async (manager) =>
      this.content(manager, demand(await this.instances.lock(manager, { uuid }))),
    );
  }

  /** @returns undefined when a step came between */
  private async attempt(manager: EntityManager, uuid: string): Promise<InstanceSnapshot | undefined> {
    const snapshot = await this.content(manager, demand(await this.instances.find(manager, { uuid })));
    const now = await this.instances.findHead(manager, { uuid });
    return now?.rev === snapshot.row.rev ? snapshot : undefined;
  }

  private async content(manager: EntityManager, row: InstanceRow): Promise<InstanceSnapshot> {
    const live = await this.tokens.live(manager, row.id);
    const ended = await this.ended(manager, row, live);
    const children = await this.instances.childrenOf(manager, row.id);
    const open = row.openIncidents === 0 ? [] : await this.incidents.open(manager, row.id);
    const read = {
      row,
      live,
      ended,
      incidents: open,
      failedChildren: await this.failedChildren(manager, row.id, open),
      children: await this.instances.heads(manager, children.slice(-this.pageSize)),
      events: await this.events.before(manager, row.id, row.seq + 1, this.pageSize),
    };
    return { ...read, tokenUuids: await this.tokenUuids(manager, read) };
  }

  private async failedChildren(
    manager: EntityManager,
    id: number,
    open: readonly IncidentHead[],
  ): Promise<ReadonlyMap<number, string>> {
    if (!open.some(({ source }) => source === 'SUBPROCESS')) {
      return new Map();
    }
    const children = await this.incidents.childrenOfOpen(manager, id);
    const heads = await this.instances.heads(manager, [...new Set(children.values())]);
    const uuids = new Map(heads.map((head) => [head.id, head.uuid]));
    return new Map([...children].map(([incident, child]) => [incident, uuids.get(child) ?? '']));
  }

  private async ended(
    manager: EntityManager,
    { id }: InstanceRow,
    live: readonly TokenRow[],
  ): Promise<TokenRow[]> {
    const known = new Set(live.map(({ state }) => state.id));
    const newest = await this.tokens.newest(manager, id, this.pageSize);
    return this.tokens.byIds(
      manager,
      newest.filter((token) => !known.has(token)),
    );
  }

  private async tokenUuids(
    manager: EntityManager,
    { live, ended, incidents, events }: Omit<InstanceSnapshot, 'tokenUuids'>,
  ): Promise<Map<number, string>> {
    const tokens = [...live, ...ended];
    const known = new Map(tokens.map(({ state }) => [state.id, state.uuid]));
    const named = [
      ...tokens.map(({ state }) => state.parentId),
      ...incidents.map(({ tokenId }) => tokenId),
      ...events.map(({ tokenId }) => tokenId),
    ];
    const missing = new Set(named.filter((id) => id !== null && !known.has(id)) as number[]);
    return new Map([...known, ...(await this.tokens.uuids(manager, [...missing]))]);
  }
}

function demand(row: InstanceRow | null): InstanceRow {
  if (row === null) {
    throw new ProcessInstanceNotFoundError();
  }
  return row;
}
