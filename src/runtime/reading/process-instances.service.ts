import { Injectable } from '@nestjs/common';
import { Permission } from '../../platform/auth/permission.js';
import { readPage } from '../../platform/validation/page.js';
import { appsOf } from '../../platform/user/grant.js';
import { callerHash, type Principal } from '../../platform/user/principal.js';
import { ValidationFailedError } from '../../platform/errors/request.errors.js';
import { Database } from '../../store/database.js';
import type { InstanceList, HistoryQueryDto, InstancesQueryDto } from '../model/instance.params.dto.js';
import { InstanceSnapshots } from './instance-snapshots.js';
import { BuildReadsService } from '../../delivery/builds/contents/build-reads.service.js';
import { Instances } from '../storage/instances.repository.js';
import type { InstanceDiagramDto, InstancePageDto, InstanceResponseDto } from './instance.response.dto.js';
import { toHistoryEvent, toInstanceSummary, toInstanceView } from './instance-view.js';
import { readSearchTerm, type SearchTerm } from '../model/search-terms.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import { InstanceListsRepository } from '../storage/instance-lists.repository.js';
import { UiActionAccess } from '../access/instance-access.service.js';
import type { HistoryPageDto } from './instance-history.dto.js';
import type { RunningProcessesDto } from '../model/running-processes.dto.js';

/** Maximum number of processes in the counts of running instances. */
const MAX_RUNNING_PROCESSES = 200;

/** Reads process instances (extension of the contract). Access is checked by `InstanceAccessService`. */
@Injectable()
export class ProcessInstancesService {
  private readonly maxRunning: number = MAX_RUNNING_PROCESSES;

  constructor(
    private readonly snapshots: InstanceSnapshots,
    private readonly definitions: RunnableDefinitionsService,
    private readonly database: Database,
    private readonly lists: InstanceListsRepository,
    private readonly builds: BuildReadsService,
    private readonly access: UiActionAccess,
  ) {}

  /**
   * Returns a page of instances, newest first: those of applications that the caller may read and those that the caller started.
   * @throws ValidationFailedError when `data` has an invalid path
   */
  async page(principal: Principal, { data = [], ...others }: InstancesQueryDto): Promise<InstancePageDto> {
    const query = { ...others, data: data.map(toSearchTerm) };
    const apps = principal.permissions.get(Permission.ProcessRead);
    const seen = apps === 'all' ? null : { starter: callerHash(principal), apps };
    const { items, next } = await readPage(
      query.limit ?? this.snapshots.pageSize,
      (limit) => this.database.read((manager) => this.lists.page(manager, { query, seen, limit })),
      ({ uuid }) => uuid,
    );
    return { instances: items.map(toInstanceSummary), next };
  }

  /** Counts running instances by process, highest first, in applications that the caller may read. */
  async running(principal: Principal): Promise<RunningProcessesDto> {
    const apps = appsOf(principal, Permission.ProcessRead);
    const found = await this.database.read((manager) =>
      this.lists.running(manager, apps, this.maxRunning + 1),
    );
    return { processes: found.slice(0, this.maxRunning), complete: found.length <= this.maxRunning };
  }

  /**
   * Returns a page of the audit trail of an instance.
   * @throws ProcessInstanceNotFoundError
   * @throws ValidationFailedError when both `before` and `after` are given
   */
  async history(uuid: string, query: HistoryQueryDto): Promise<HistoryPageDto> {
    if (query.before !== undefined && query.after !== undefined) {
      throw new ValidationFailedError([{ field: 'after', rule: 'cannot be combined with before' }]);
    }
    const limit = query.limit ?? this.snapshots.pageSize;
    const { definitionId, found, tokenUuids } = await this.snapshots.trail(uuid, query, limit + 1);
    const names = { definition: await this.definitions.byId(definitionId), tokenUuids };
    const events = found.slice(0, limit).map((event) => toHistoryEvent(names, event));
    return { events, next: found.length > limit ? (events.at(-1)?.seq ?? null) : null };
  }

  /**
   * Returns an instance in a consistent state between two steps.
   * @param principal caller who must be allowed to read it, and whose UI actions are included
   * @param included optional lists to include
   * @throws PermissionDeniedError, ProcessInstanceNotFoundError
   */
  async get(
    principal: Principal,
    uuid: string,
    included: ReadonlySet<InstanceList>,
  ): Promise<InstanceResponseDto> {
    const snapshot = await this.snapshots.read({ principal, uuid, included });
    return toInstanceView(snapshot, included, (node) =>
      this.access.mayExecute(principal, snapshot.row, snapshot.definition, node),
    );
  }

  /** Returns the BPMN file as delivered. @throws ProcessInstanceNotFoundError */
  async bpmn(uuid: string): Promise<string> {
    const head = await this.database.read((manager) => Instances.requireHead(manager, uuid));
    const { appId, buildId, processName } = head;
    return this.builds.bpmn({ appId, buildId, processName });
  }

  /** Returns the BPMN file and the positions of live tokens. @throws ProcessInstanceNotFoundError */
  async diagram(principal: Principal, uuid: string): Promise<InstanceDiagramDto> {
    const { tokens } = await this.get(principal, uuid, new Set());
    const positions = tokens
      .filter(({ state }) => state === 'ACTIVE' || state === 'ON_HOLD')
      .map(({ currentNodeId: nodeId, bpmnElementId, uuid: tokenUuid, state }) => ({
        nodeId,
        bpmnElementId,
        tokenUuid,
        state,
      }));
    return { bpmn: await this.bpmn(uuid), positions };
  }

  /** Returns revision and state of the existing instances among these, in no order. */
  async revisions(ids: readonly number[]): ReturnType<InstanceListsRepository['revisions']> {
    return this.database.read((manager) => this.lists.revisions(manager, ids));
  }
}

/** @throws ValidationFailedError when the path is invalid */
function toSearchTerm(text: string): SearchTerm {
  const term = readSearchTerm(text);
  if (term === undefined) {
    throw new ValidationFailedError([{ field: 'data', rule: 'must start with a valid data path' }]);
  }
  return term;
}
