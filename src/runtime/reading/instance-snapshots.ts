import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../platform/user/principal.js';
import { cached } from '#engine/support';
import { Database } from '../../store/database.js';
import type { SharedRead } from '../../store/groups/read-queue.js';
import {
  type RunnableDefinition,
  RunnableDefinitionsService,
} from '../definitions/runnable-definitions.service.js';
import { requireReadableHead } from '../access/instance-access.service.js';
import { type EventRow, Events } from '../storage/events.repository.js';
import { Incidents, type IncidentHead } from '../storage/incidents.repository.js';
import { readContents, type InstanceContents } from '../storage/instance-contents.js';
import type { InstanceRow } from '../storage/process-instance.entity.js';
import {
  InstanceRevisionError,
  Instances,
  withContent,
  type StoredInstance,
} from '../storage/instances.repository.js';
import { Tokens } from '../storage/tokens.repository.js';
import { INSTANCE_LISTS, type InstanceList, type HistoryQueryDto } from '../model/instance.params.dto.js';
import { pageLimits } from '../../platform/validation/page.limits.js';
import { ShardGroups } from '../../store/shards.js';
import { CorrectionsRepository } from '../storage/corrections.repository.js';

/** Consistent state of an instance between two steps. */
export interface InstanceSnapshot extends Omit<InstanceContents, 'rev' | 'events'> {
  row: InstanceRow;
  definition: RunnableDefinition;
  /** Newest events, newest first. */
  events: readonly EventRow[];
  /** Open incidents. */
  incidents: IncidentHead[];
  /** Uuids of the called processes that caused incidents, by incident id. */
  failedChildren: ReadonlyMap<number, string>;
  /** Uuids of all referenced tokens, by token id. */
  tokenUuids: ReadonlyMap<number, string>;
}

/** Request to read an instance. */
interface InstanceRequest {
  /** Caller who must be allowed to read it. */
  principal: Principal;
  uuid: string;
  /** Optional lists to read. */
  included: ReadonlySet<InstanceList>;
}

/** Part of an audit trail, with the uuids of its tokens by id. */
interface InstanceTrail {
  definitionId: number;
  found: readonly EventRow[];
  tokenUuids: ReadonlyMap<number, string>;
}

/** Runs a read in an existing transaction or in one of its own. */
type Run = <Result>(work: (manager: EntityManager) => Promise<Result>) => Promise<Result>;

const ATTEMPTS = 3;

/**
 * Reads consistent snapshots of instances, with two statements if no incident is open. Concurrent readers share the statements.
 */
@Injectable()
export class InstanceSnapshots {
  /** Maximum number of children, events and ended tokens shown. */
  readonly pageSize = pageLimits.size;
  private readonly rows: SharedRead<string, StoredInstance | null>;
  /** Shared reads by requested lists. */
  private readonly contents = new Map<string, SharedRead<InstanceRow, InstanceContents>>();

  constructor(
    private readonly database: Database,
    groups: ShardGroups,
    private readonly definitions: RunnableDefinitionsService,
    private readonly corrections: CorrectionsRepository,
  ) {
    this.rows = database.sharedRead(
      (manager, uuids: readonly string[]) => Instances.findStored(manager, uuids, groups),
      (uuid) => uuid,
    );
  }

  /** @throws PermissionDeniedError, ProcessInstanceNotFoundError */
  async read(request: InstanceRequest): Promise<InstanceSnapshot> {
    const { principal, uuid, included } = request;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const row = withContent(requireReadableHead(principal, await this.rows(uuid)));
      const definition = await this.definitions.byId(row.definitionId);
      const snapshot = await this.snapshot(row, definition, included);
      if (snapshot !== undefined) {
        return this.withCorrectedValues(snapshot);
      }
    }
    return this.withCorrectedValues(await this.readLocked(request));
  }

  /** Returns events before or after a number; the newest ones without either. @throws ProcessInstanceNotFoundError */
  trail(uuid: string, { before, after }: HistoryQueryDto, limit: number): Promise<InstanceTrail> {
    return this.database.read(async (manager) => {
      const head = await Instances.requireHead(manager, uuid);
      const events =
        after === undefined
          ? await Events.before(manager, head.id, before ?? head.seq + 1, limit)
          : await Events.after(manager, head.id, after, limit);
      const tokens = new Set(events.flatMap(({ tokenId }) => tokenId ?? []));
      const tokenUuids = await Tokens.uuids(manager, [head.id], [...tokens]);
      const found = await this.corrections.reveal(manager, head, events);
      return { definitionId: head.definitionId, found, tokenUuids };
    });
  }

  private async withCorrectedValues(snapshot: InstanceSnapshot): Promise<InstanceSnapshot> {
    const events = await this.database.read((manager) =>
      this.corrections.reveal(manager, snapshot.row, snapshot.events),
    );
    return { ...snapshot, events };
  }

  /** Reads an instance under its lock, when steps in quick succession have changed it during every other attempt. */
  private async readLocked({ principal, uuid, included }: InstanceRequest): Promise<InstanceSnapshot> {
    const found = await this.database.read((manager) => Instances.findHead(manager, { uuid }));
    // The definition of an instance never changes, so it can be loaded before the lock.
    const { id, definitionId } = requireReadableHead(principal, found);
    const definition = await this.definitions.byId(definitionId);
    // Only reads, although the lock needs a write transaction.
    const locked = await this.database.writeAside(async (manager) => {
      const row = requireReadableHead(principal, await Instances.lock(manager, { id }));
      return this.snapshot(row, definition, included, manager);
    });
    if (locked === undefined) {
      throw new InstanceRevisionError('The revision of a locked instance has changed.');
    }
    return locked;
  }

  private sharedContents(lists: readonly InstanceList[]): SharedRead<InstanceRow, InstanceContents> {
    return cached(this.contents, lists.join(), () =>
      this.database.sharedRead(
        (manager, rows: readonly InstanceRow[]) => readContents(manager, rows, lists, this.pageSize),
        ({ id, rev }) => `${id}/${rev}`,
      ),
    );
  }

  /**
   * @param locking transaction that holds the lock of the instance; without it steps may run concurrently
   * @returns undefined if a step has changed the instance in the meantime
   */
  private async snapshot(
    row: InstanceRow,
    definition: RunnableDefinition,
    included: ReadonlySet<InstanceList>,
    locking?: EntityManager,
  ): Promise<InstanceSnapshot | undefined> {
    const run: Run = (work) => (locking === undefined ? this.database.read(work) : work(locking));
    const incidents = row.openIncidents === 0 ? [] : await run((manager) => Incidents.open(manager, row.id));
    const failedChildren = await this.failedChildren(run, row.id, incidents);
    const lists = INSTANCE_LISTS.filter(
      (list) => included.has(list) && (list !== 'children' || definition.runtime.startsProcesses),
    );
    // Read last and in one statement, so that an unchanged revision confirms everything read before.
    const contents =
      locking === undefined
        ? await this.sharedContents(lists)(row)
        : (await readContents(locking, [row], lists, this.pageSize))[0];
    if (contents === undefined || contents.rev !== row.rev) {
      return undefined;
    }
    const tokenUuids = await this.tokenUuids(run, row.id, contents, incidents);
    return { row, definition, incidents, failedChildren, ...contents, tokenUuids };
  }

  private async failedChildren(
    run: Run,
    id: number,
    open: readonly IncidentHead[],
  ): Promise<ReadonlyMap<number, string>> {
    if (!open.some(({ source }) => source === 'SUBPROCESS')) {
      return new Map();
    }
    return run(async (manager) => {
      const children = await Incidents.childrenOfOpen(manager, id);
      const heads = await Instances.heads(manager, [...new Set(children.values())]);
      const uuids = new Map(heads.map((head) => [head.id, head.uuid]));
      return new Map([...children].map(([incident, child]) => [incident, uuids.get(child) ?? '']));
    });
  }

  private async tokenUuids(
    run: Run,
    id: number,
    { live, ended, events }: InstanceContents,
    incidents: readonly IncidentHead[],
  ): Promise<ReadonlyMap<number, string>> {
    const tokens = [...live, ...ended].map(({ state }) => state);
    const known = new Map(tokens.map(({ id, uuid }) => [id, uuid]));
    const named = [
      ...tokens.map(({ parentId }) => parentId),
      ...[...incidents, ...events].map(({ tokenId }) => tokenId),
    ];
    const missing = new Set(named.flatMap((id) => (id === null || known.has(id) ? [] : [id])));
    if (missing.size === 0) {
      return known;
    }
    const others = await run((manager) => Tokens.uuids(manager, [id], [...missing]));
    return new Map([...known, ...others]);
  }
}
