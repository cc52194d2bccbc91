import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import type { SharedRead } from '../../../database/groups/read-queue.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import { readable } from '../access/instance-access.service.js';
import type { EventRow } from '../storage/events.repository.js';
import { IncidentsRepository, type IncidentHead } from '../storage/incidents.repository.js';
import type { InstanceRow } from '../storage/instance.row.js';
import {
  InstanceRevisionError,
  InstancesRepository,
  withContent,
  type StoredInstance,
} from '../storage/instances.repository.js';
import { TokensRepository } from '../storage/tokens.repository.js';
import {
  INSTANCE_LISTS,
  readContents,
  type InstanceContents,
  type InstanceList,
} from './instance-contents.js';
import { pageLimits } from '../../../common/validation/page.limits.js';

/** An instance between two steps. */
export interface InstanceSnapshot extends Omit<InstanceContents, 'rev' | 'events'> {
  row: InstanceRow;
  definition: RunnableDefinition;
  /** The newest, newest first. */
  events: readonly EventRow[];
  /** Open ones. */
  incidents: IncidentHead[];
  /** Uuids of the called processes that incidents are about, by the id of the incident. */
  failedChildren: ReadonlyMap<number, string>;
  /** Uuids of all tokens that the above name, by id. */
  tokenUuids: ReadonlyMap<number, string>;
}

/** How an instance is read: beside steps, or holding its lock. */
interface Reading {
  readonly run: <Result>(work: (manager: EntityManager) => Promise<Result>) => Promise<Result>;
  readonly contents: (
    row: InstanceRow,
    lists: readonly InstanceList[],
  ) => Promise<InstanceContents | undefined>;
}

const ATTEMPTS = 3;

/**
 * Reads instances as they stand between two steps, with two statements where no incident is open. Readers who come at the same time share
 * them.
 */
@Injectable()
export class InstanceSnapshots {
  /** How many of what an instance has very many of are shown. */
  readonly pageSize: number;
  private readonly rows: SharedRead<string, StoredInstance | null>;
  /** By the lists that are read. */
  private readonly contents = new Map<string, SharedRead<InstanceRow, InstanceContents>>();
  private readonly free: Reading;

  constructor(
    private readonly database: Database,
    private readonly instances: InstancesRepository,
    private readonly tokens: TokensRepository,
    private readonly incidents: IncidentsRepository,
    private readonly definitions: RunnableDefinitionsService,
  ) {
    this.pageSize = pageLimits.size;
    this.rows = database.sharedRead(
      (manager, uuids: readonly string[]) => instances.findStored(manager, uuids),
      (uuid) => uuid,
    );
    this.free = {
      run: (work) => database.read(work),
      contents: (row, lists) => this.sharedContents(lists)(row),
    };
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
      const row = withContent(readable(principal, await this.rows(uuid)));
      const definition = await this.definitions.byId(row.definitionId);
      const snapshot = await this.snapshot(this.free, row, definition, included);
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
    const { id, definitionId } = readable(principal, found);
    const definition = await this.definitions.byId(definitionId);
    // It only reads, so nothing counts as stored.
    const locked = await this.database.writeAside(async (manager) => {
      const row = readable(principal, await this.instances.lock(manager, { id }));
      const contents: Reading['contents'] = async (only, lists) => {
        const [found] = await readContents(manager, [only], lists, this.pageSize);
        return found;
      };
      return this.snapshot({ run: (work) => work(manager), contents }, row, definition, included);
    });
    if (locked === undefined) {
      throw new InstanceRevisionError('The revision of a locked instance has changed.');
    }
    return locked;
  }

  private sharedContents(lists: readonly InstanceList[]): SharedRead<InstanceRow, InstanceContents> {
    const key = lists.join();
    const known = this.contents.get(key);
    if (known !== undefined) {
      return known;
    }
    const made = this.database.sharedRead(
      (manager, rows: readonly InstanceRow[]) => readContents(manager, rows, lists, this.pageSize),
      ({ id, rev }) => `${id}/${rev}`,
    );
    this.contents.set(key, made);
    return made;
  }

  /** @returns undefined when a step came between */
  private async snapshot(
    reading: Reading,
    row: InstanceRow,
    definition: RunnableDefinition,
    included: ReadonlySet<InstanceList>,
  ): Promise<InstanceSnapshot | undefined> {
    const incidents =
      row.openIncidents === 0 ? [] : await reading.run((manager) => this.incidents.open(manager, row.id));
    const failedChildren = await this.failedChildren(reading, row.id, incidents);
    const lists = INSTANCE_LISTS.filter(
      (list) => included.has(list) && (list !== 'children' || definition.startsProcesses),
    );
    // Last and in one statement, so that the revision tells of all that was read before.
    const contents = await reading.contents(row, lists);
    if (contents === undefined || contents.rev !== row.rev) {
      return undefined;
    }
    const tokenUuids = await this.tokenUuids(reading, row.id, contents, incidents);
    return { row, definition, incidents, failedChildren, ...contents, tokenUuids };
  }

  private async failedChildren(
    { run }: Reading,
    id: number,
    open: readonly IncidentHead[],
  ): Promise<ReadonlyMap<number, string>> {
    if (!open.some(({ source }) => source === 'SUBPROCESS')) {
      return new Map();
    }
    return run(async (manager) => {
      const children = await this.incidents.childrenOfOpen(manager, id);
      const heads = await this.instances.heads(manager, [...new Set(children.values())]);
      const uuids = new Map(heads.map((head) => [head.id, head.uuid]));
      return new Map([...children].map(([incident, child]) => [incident, uuids.get(child) ?? '']));
    });
  }

  private async tokenUuids(
    { run }: Reading,
    id: number,
    { live, ended, events }: InstanceContents,
    incidents: readonly IncidentHead[],
  ): Promise<ReadonlyMap<number, string>> {
    const known = new Map<number, string>();
    const missing = new Set<number>();
    const name = (id: number | null): void => {
      if (id !== null && !known.has(id)) {
        missing.add(id);
      }
    };
    [live, ended].forEach((tokens) => tokens.forEach(({ state }) => known.set(state.id, state.uuid)));
    [live, ended].forEach((tokens) => tokens.forEach(({ state }) => name(state.parentId)));
    incidents.forEach(({ tokenId }) => name(tokenId));
    events.forEach(({ tokenId }) => name(tokenId));
    if (missing.size === 0) {
      return known;
    }
    const others = await run((manager) => this.tokens.uuids(manager, id, [...missing]));
    return new Map([...known, ...others]);
  }
}
