import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import { Env } from '../../../config/env.js';
import { Database } from '../../../database/database.js';
import { readTogether } from '../../../database/read-together.js';
import { readable } from '../access/instance-access.service.js';
import { newestEvents, type EventRow } from '../storage/events.repository.js';
import { IncidentsRepository, type IncidentHead } from '../storage/incidents.repository.js';
import type { InstanceRow } from '../storage/instance.row.js';
import {
  instanceParts,
  InstanceRevisionError,
  InstancesRepository,
  type ChildHead,
} from '../storage/instances.repository.js';
import { tokenParts, TokensRepository, toTokenRows } from '../storage/tokens.repository.js';
import type { StoredToken, TokenRow } from '../storage/token.row.js';

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
  children: ChildHead[];
  /** The newest, newest first. */
  events: EventRow[];
  /** Uuids of all tokens that the above name, by id. */
  tokenUuids: Map<number, string>;
}

const ATTEMPTS = 3;

/** Reads instances as they stand between two steps, with two statements where no incident is open. */
@Injectable()
export class InstanceSnapshots {
  /** How many of what an instance has very many of are shown. */
  readonly pageSize: number;

  constructor(
    private readonly database: Database,
    private readonly instances: InstancesRepository,
    private readonly tokens: TokensRepository,
    private readonly incidents: IncidentsRepository,
    env: Env,
  ) {
    this.pageSize = env.get('PROCESS_PAGE_SIZE');
  }

  /**
   * @param principal who must be allowed to read it
   * @throws PermissionDeniedError, ProcessInstanceNotFoundError
   */
  async read(principal: Principal, uuid: string): Promise<InstanceSnapshot> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const snapshot = await this.database.read(async (manager) =>
        this.content(manager, readable(principal, await this.instances.find(manager, { uuid }))),
      );
      if (snapshot !== undefined) {
        return snapshot;
      }
    }
    // An instance with steps in quick succession: they wait for this one. It only reads, so nothing counts as stored.
    const locked = await this.database.writeAside(async (manager) =>
      this.content(manager, readable(principal, await this.instances.lock(manager, { uuid }))),
    );
    if (locked === undefined) {
      throw new InstanceRevisionError('The revision of a locked instance has changed.');
    }
    return locked;
  }

  /** @returns undefined when a step came between */
  private async content(manager: EntityManager, row: InstanceRow): Promise<InstanceSnapshot | undefined> {
    const incidents = row.openIncidents === 0 ? [] : await this.incidents.open(manager, row.id);
    const failedChildren = await this.failedChildren(manager, row.id, incidents);
    const tokens = tokenParts(row.id, this.pageSize);
    const { revision, children } = instanceParts(row.id, this.pageSize);
    const events = newestEvents(row.id, this.pageSize);
    // Last and in one statement, so that the revision tells of all that was read before.
    const read = await readTogether<
      [Pick<InstanceRow, 'rev'>, StoredToken, StoredToken, ChildHead, EventRow]
    >(manager, [revision, tokens.live, tokens.ended, children, events]);
    if (read[0][0]?.rev !== row.rev) {
      return undefined;
    }
    const content = {
      row,
      live: toTokenRows(read[1]),
      ended: toTokenRows(read[2]),
      incidents,
      failedChildren,
      children: read[3],
      events: read[4].toSorted((one, other) => other.seq - one.seq),
    };
    return { ...content, tokenUuids: await this.tokenUuids(manager, content) };
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
