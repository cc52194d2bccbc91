import { Injectable } from '@nestjs/common';
import { combineGrants } from '../../platform/user/grant.js';
import { callerHash, type Principal } from '../../platform/user/principal.js';
import { Database } from '../../store/database.js';
import { UiActionAccess } from '../access/instance-access.service.js';
import {
  type RunnableDefinition,
  RunnableDefinitionsService,
} from '../definitions/runnable-definitions.service.js';
import { toInstanceState } from '../steps/instance-status.js';
import { InstanceListsRepository } from '../storage/instance-lists.repository.js';
import type { Seen } from '../storage/seen-instances.js';
import type { InstanceRow } from '../storage/process-instance.entity.js';
import { Instances, withContent } from '../storage/instances.repository.js';
import type { TokenRow } from '../storage/process-token.entity.js';
import { readContents } from '../storage/instance-contents.js';
import { toInstanceToken, uiActionsOf } from './instance-view.js';
import type { TaskDto, TaskPageDto, TasksQueryDto } from './tasks.dto.js';
import { pageLimits } from '../../platform/validation/page.limits.js';
import { ShardGroups } from '../../store/shards.js';

/** Running instance with its live tokens, read at one moment. */
interface Running {
  readonly row: InstanceRow;
  readonly live: readonly TokenRow[];
}

/** Attempts to read an instance that changes meanwhile; after that it is left to the next request. */
const ATTEMPTS = 3;
/** Instances per batch. Small, because contents can be large and other requests are served between batches. */
const BATCH_SIZE = 20;
/** Characters of tasks after which a page ends before its limit. */
const PAGE_LENGTH = 1_048_576;
const NO_UUIDS: ReadonlyMap<number, string> = new Map();

/** Finds tasks: tokens with UI actions that a caller may execute now. */
@Injectable()
export class TasksService {
  private readonly pageSize = pageLimits.size;

  constructor(
    private readonly database: Database,
    private readonly groups: ShardGroups,
    private readonly lists: InstanceListsRepository,
    private readonly definitions: RunnableDefinitionsService,
    private readonly access: UiActionAccess,
  ) {}

  /**
   * Returns a page of tasks from up to `limit` instances, fewer if their tasks are large. Takes one statement for the list of instances
   * and two per batch.
   */
  async page(principal: Principal, query: TasksQueryDto): Promise<TaskPageDto> {
    const limit = query.limit ?? this.pageSize;
    const uuids = await this.uuids(principal, query, limit + 1);
    const tasks: TaskDto[] = [];
    let checked = 0;
    let length = 0;
    while (checked < Math.min(limit, uuids.length) && length < PAGE_LENGTH) {
      const part = uuids.slice(checked, Math.min(checked + BATCH_SIZE, limit));
      const found = await this.tasksIn(principal, part, query.processInstanceUuid !== undefined);
      for (const each of found) {
        checked += 1;
        tasks.push(...each);
        length += each.length === 0 ? 0 : JSON.stringify(each).length;
        if (length >= PAGE_LENGTH) {
          break;
        }
      }
    }
    return { tasks, next: checked < uuids.length ? (uuids[checked - 1] ?? null) : null };
  }

  /** Returns the tasks of each instance. */
  private async tasksIn(
    principal: Principal,
    uuids: readonly string[],
    withBackOnly: boolean,
  ): Promise<TaskDto[][]> {
    const running = await this.running(uuids);
    const found: TaskDto[][] = [];
    for (const uuid of uuids) {
      const one = running.get(uuid);
      const definition = one && (await this.definitions.ifUsable(one.row.definitionId));
      found.push(
        one === undefined || definition === undefined
          ? []
          : this.tasksOf(principal, one, definition, withBackOnly),
      );
    }
    return found;
  }

  private async uuids(
    principal: Principal,
    { processInstanceUuid: uuid, ...query }: TasksQueryDto,
    limit: number,
  ): Promise<readonly string[]> {
    if (uuid !== undefined) {
      return [uuid];
    }
    const seen = this.access.isOpen ? null : seenBy(principal);
    const options = { query: { ...query, state: 'STARTED' as const }, seen, limit };
    const places = await this.database.read((manager) => this.lists.places(manager, options));
    return places.map((place) => place.uuid);
  }

  private async running(uuids: readonly string[]): Promise<ReadonlyMap<string, Running>> {
    const found = new Map<string, Running>();
    let left = uuids;
    for (let attempt = 0; attempt < ATTEMPTS && left.length > 0; attempt += 1) {
      const pending = left;
      const stored = await this.database.read((manager) =>
        Instances.findStored(manager, pending, this.groups),
      );
      const rows = stored.flatMap((row) => (row === null ? [] : [withContent(row)]));
      const contents =
        rows.length === 0 ? [] : await this.database.read((manager) => readContents(manager, rows, [], 0));
      rows.forEach((row, index) => {
        if (contents[index]?.rev === row.rev) {
          found.set(row.uuid, { row, live: contents[index].live });
        }
      });
      left = rows.flatMap(({ uuid }) => (found.has(uuid) ? [] : [uuid]));
    }
    return found;
  }

  private tasksOf(
    principal: Principal,
    { row, live }: Running,
    definition: RunnableDefinition,
    withBackOnly: boolean,
  ): TaskDto[] {
    const state = toInstanceState(row, live);
    return live.flatMap((token) => {
      const uiActions = uiActionsOf(definition, state, token.state, (node) =>
        this.access.mayExecute(principal, row, definition, node),
      );
      // Tokens with only back actions are not tasks, but the page of a single instance must offer them.
      return uiActions.some(({ back }) => withBackOnly || !back)
        ? [{ ...toTask(row, definition, token), uiActions }]
        : [];
    });
  }
}

/**
 * Returns the instances that can have tasks for a caller: those that they started, and those of applications for which they have
 * any permission, since a lane may require any permission.
 */
function seenBy(principal: Principal): Seen | null {
  const apps = combineGrants([...principal.permissions.values()]);
  return apps === 'all' ? null : { starter: callerHash(principal), apps };
}

function toTask(
  row: InstanceRow,
  definition: RunnableDefinition,
  token: TokenRow,
): Omit<TaskDto, 'uiActions'> {
  const shown = toInstanceToken({ definition, tokenUuids: NO_UUIDS }, token);
  const { uuid, visit, currentNodeName, bpmnElementId, lane, dateUpdated } = shown;
  return {
    processInstanceUuid: row.uuid,
    applicationId: row.appId,
    processDefinitionName: row.processName,
    startedAt: row.startedAt.toISOString(),
    tokenUuid: uuid,
    visit,
    nodeName: currentNodeName,
    bpmnElementId,
    lane,
    waitsSince: dateUpdated,
  };
}
