import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import { Env } from '../../../config/env.js';
import { Database } from '../../../database/database.js';
import { readTogether } from '../../../database/read-together.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import { readable } from '../access/instance-access.service.js';
import { newestEvents, type EventRow } from '../storage/events.repository.js';
import { IncidentsRepository, type IncidentHead } from '../storage/incidents.repository.js';
import type { InstanceRow } from '../storage/instance.row.js';
import {
  InstanceRevisionError,
  InstancesRepository,
  newestChildren,
  revisionPart,
  type ChildHead,
} from '../storage/instances.repository.js';
import { shownTokens, TokensRepository, toTokenRows, type ShownToken } from '../storage/tokens.repository.js';
import type { TokenRow } from '../storage/token.row.js';

/** Lists of an instance that not every reader needs. */
export const INSTANCE_LISTS = ['children', 'history'] as const;
export type InstanceList = (typeof INSTANCE_LISTS)[number];
export const ALL_LISTS: ReadonlySet<InstanceList> = new Set(INSTANCE_LISTS);

/** An instance between two steps. Of lists that were not asked for nothing is there. */
export interface InstanceSnapshot {
  row: InstanceRow;
  definition: RunnableDefinition;
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
    private readonly definitions: RunnableDefinitionsService,
    env: Env,
  ) {
    this.pageSize = env.get('PROCESS_PAGE_SIZE');
  }

  /**
   * @param principal who must be allowed to read it
   * @param included lists that are read beside the rest
   * @throws PermissionDeniedError, ProcessInstanceNotFoundError
   */
  async read(
    principal: Principal,
    uuid: string,
    included: ReadonlySet<InstanceList>,
  ): Promise<InstanceSnapshot> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const found = await this.database.read((manager) => this.instances.find(manager, { uuid }));
      const row = readable(principal, found);
      const definition = await this.definitions.byId(row.definitionId);
      const snapshot = await this.database.read((manager) =>
        this.content(manager, row, definition, included),
      );
      if (snapshot !== undefined) {
        return snapshot;
      }
    }
    return this.locked(principal, uuid, included);
  }

  /** An instance with steps in quick succession: they wait for this reading. */
  private async locked(
    principal: Principal,
    uuid: string,
    included: ReadonlySet<InstanceList>,
  ): Promise<InstanceSnapshot> {
    const found = await this.database.read((manager) => this.instances.findHead(manager, { uuid }));
    // Instances keep their definitions.
    const definition = await this.definitions.byId(readable(principal, found).definitionId);
    // It only reads, so nothing counts as stored.
    const locked = await this.database.writeAside(async (manager) => {
      const row = readable(principal, await this.instances.lock(manager, { uuid }));
      return this.content(manager, row, definition, included);
    });
    if (locked === undefined) {
      throw new InstanceRevisionError('The revision of a locked instance has changed.');
    }
    return locked;
  }

  /** @returns undefined when a step came between */
  private async content(
    manager: EntityManager,
    row: InstanceRow,
    definition: RunnableDefinition,
    included: ReadonlySet<InstanceList>,
  ): Promise<InstanceSnapshot | undefined> {
    const incidents = row.openIncidents === 0 ? [] : await this.incidents.open(manager, row.id);
    const failedChildren = await this.failedChildren(manager, row.id, incidents);
    const hasChildren = included.has('children') && definition.startsProcesses;
    // Last and in one statement, so that the revision tells of all that was read before.
    const [revision, tokens, children, events] = await readTogether<
      [Pick<InstanceRow, 'rev'>, ShownToken, ChildHead, EventRow]
    >(manager, [
      revisionPart(row.id),
      shownTokens(row.id, this.pageSize),
      hasChildren ? newestChildren(row.id, this.pageSize) : undefined,
      included.has('history') ? newestEvents(row, this.pageSize) : undefined,
    ]);
    if (revision[0]?.rev !== row.rev) {
      return undefined;
    }
    const content = {
      row,
      definition,
      live: toTokenRows(tokens.filter(({ live }) => live)),
      ended: toTokenRows(tokens.filter(({ live }) => !live)),
      incidents,
      failedChildren,
      children,
      events: events.toSorted((one, other) => other.seq - one.seq),
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
    { live, ended, incidents, events }: Pick<InstanceSnapshot, 'live' | 'ended' | 'incidents' | 'events'>,
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
