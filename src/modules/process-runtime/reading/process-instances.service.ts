import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { callerHash, type Principal } from '../../../common/user/principal.js';
import { ValidationFailedError } from '../../../common/errors/request.errors.js';
import { Database } from '../../../database/database.js';
import { mayReadAll } from '../access/instance-access.service.js';
import { InstanceSnapshots } from './instance-snapshots.js';
import { toHistoryEvent, toInstanceSummary, toInstanceView } from './instance-view.js';
import type {
  HistoryPage,
  HistoryQuery,
  InstancePage,
  InstanceQuery,
  InstanceView,
} from '../model/process-instances.types.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import type { EventRow } from '../storage/events.repository.js';
import { InstanceListsRepository } from '../storage/instance-lists.repository.js';
import { RuntimeRows } from '../storage/runtime-rows.js';
import { UiActionAccess } from '../access/ui-action-access.js';

/** Shows process instances (extension of the contract). Who may read them is the matter of `InstanceAccessService`. */
@Injectable()
export class ProcessInstancesService {
  constructor(
    private readonly snapshots: InstanceSnapshots,
    private readonly definitions: RunnableDefinitionsService,
    private readonly database: Database,
    private readonly rows: RuntimeRows,
    private readonly lists: InstanceListsRepository,
    private readonly access: UiActionAccess,
  ) {}

  /**
   * A page of instances, newest first: of all, or only of those that the caller started when the caller may not read others.
   */
  async page(principal: Principal, query: InstanceQuery): Promise<InstancePage> {
    const limit = query.limit ?? this.snapshots.pageSize;
    const starter = mayReadAll(principal) ? null : callerHash(principal);
    const heads = await this.database.read((manager) => this.lists.page(manager, query, starter, limit + 1));
    const instances = heads.slice(0, limit).map(toInstanceSummary);
    return { instances, next: heads.length > limit ? (instances.at(-1)?.uuid ?? null) : null };
  }

  /**
   * A part of the audit trail of an instance.
   * @throws ProcessInstanceNotFoundError
   * @throws ValidationFailedError when both directions are asked for
   */
  async history(uuid: string, query: HistoryQuery): Promise<HistoryPage> {
    if (query.before !== undefined && query.after !== undefined) {
      throw new ValidationFailedError([{ field: 'after', rule: 'must not be together with before' }]);
    }
    const limit = query.limit ?? this.snapshots.pageSize;
    const { definitionId, rows, uuids } = await this.database.read((manager) =>
      this.events(manager, uuid, query, limit + 1),
    );
    const definition = await this.definitions.byId(definitionId);
    const events = rows.slice(0, limit).map((event) => toHistoryEvent(definition, event, uuids));
    return { events, next: rows.length > limit ? (events.at(-1)?.seq ?? null) : null };
  }

  /**
   * An instance as it stands between two steps.
   * @param principal whose UI actions are shown
   * @throws ProcessInstanceNotFoundError
   */
  async get(principal: Principal, uuid: string): Promise<InstanceView> {
    const snapshot = await this.snapshots.read(uuid);
    const definition = await this.definitions.byId(snapshot.row.definitionId);
    return toInstanceView(snapshot, definition, (node) =>
      this.access.mayExecute(principal, snapshot.row, definition, node),
    );
  }

  /** Revision and state of instances, of those that are there, in no order. */
  async revisions(ids: readonly number[]): ReturnType<InstanceListsRepository['revisions']> {
    return this.database.read((manager) => this.lists.revisions(manager, ids));
  }

  private async events(
    manager: EntityManager,
    uuid: string,
    { before, after }: HistoryQuery,
    limit: number,
  ): Promise<{ definitionId: number; rows: EventRow[]; uuids: Map<number, string> }> {
    const head = await this.rows.instances.findHead(manager, { uuid });
    if (head === null) {
      throw new ProcessInstanceNotFoundError();
    }
    const rows =
      after === undefined
        ? await this.rows.events.before(manager, head.id, before ?? head.seq + 1, limit)
        : await this.rows.events.after(manager, head.id, after, limit);
    const tokens = new Set(rows.flatMap(({ tokenId }) => (tokenId === null ? [] : [tokenId])));
    const uuids = await this.rows.tokens.uuids(manager, [...tokens]);
    return { definitionId: head.definitionId, rows, uuids };
  }
}
