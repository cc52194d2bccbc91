import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Permission } from '../../platform/auth/permission.js';
import { timeOfUuid } from '../../platform/ordered-uuid.js';
import { readPage } from '../../platform/validation/page.js';
import { appsOf } from '../../platform/user/grant.js';
import type { Principal } from '../../platform/user/principal.js';
import { Database } from '../../store/database.js';
import { WorkflowRunsService } from '../calls/workflows/runs/workflow-runs.service.js';
import type { WorkflowRunError } from '../calls/workflows/model/workflow.types.js';
import { IncidentLists, type ListedIncident } from '../storage/incident-lists.repository.js';
import type { InstanceHead } from '../storage/process-instance.entity.js';
import { Instances } from '../storage/instances.repository.js';
import { Tokens } from '../storage/tokens.repository.js';
import type {
  IncidentCountsDto,
  IncidentPageDto,
  ListedIncidentDto,
  IncidentFilterDto,
  IncidentsQueryDto,
} from '../model/incident-inbox.dto.js';
import { pageLimits } from '../../platform/validation/page.limits.js';

/** Incident with the rows it refers to. */
interface ResolvedIncident {
  incident: ListedIncident;
  head: InstanceHead;
  tokenUuid: string | null;
  workflowError: WorkflowRunError | null;
}

/** Lists incidents across all instances that a caller may read (extension of the contract). */
@Injectable()
export class IncidentInboxService {
  constructor(
    private readonly database: Database,
    private readonly workflows: WorkflowRunsService,
  ) {}

  /** Returns a page of incidents, newest first. */
  async page(principal: Principal, query: IncidentsQueryDto): Promise<IncidentPageDto> {
    const apps = appsOf(principal, Permission.ProcessRead);
    const { items, next } = await readPage(
      query.limit ?? pageLimits.size,
      (limit) =>
        this.database.read(async (manager) =>
          this.resolve(manager, await IncidentLists.page(manager, { query, apps, limit })),
        ),
      ({ incident }) => incident.uuid,
    );
    return { incidents: items.map(toListedIncident), next };
  }

  /** Counts open incidents by process, element and type, highest first. */
  async counts(
    principal: Principal,
    { limit = pageLimits.size, ...query }: IncidentFilterDto & { limit?: number },
  ): Promise<IncidentCountsDto> {
    const options = { query, apps: appsOf(principal, Permission.ProcessRead), limit: limit + 1 };
    const counts = await this.database.read((manager) => IncidentLists.counts(manager, options));
    return { counts: counts.slice(0, limit), complete: counts.length <= limit };
  }

  private async resolve(
    manager: EntityManager,
    incidents: readonly ListedIncident[],
  ): Promise<ResolvedIncident[]> {
    const heads = await Instances.heads(manager, [...new Set(incidents.map((one) => one.instanceId))]);
    const byId = new Map(heads.map((head) => [head.id, head]));
    const stopped = incidents.filter(({ tokenId }) => tokenId !== null);
    const uuids = await Tokens.uuids(
      manager,
      stopped.map(({ instanceId }) => instanceId),
      stopped.map(({ tokenId }) => tokenId ?? 0),
    );
    const runs = incidents.flatMap(({ workflowRunId: id, shard }) => (id === null ? [] : [{ id, shard }]));
    const failures = await this.workflows.failures(manager, runs);
    return incidents.flatMap((incident) => {
      const head = byId.get(incident.instanceId);
      const tokenUuid = uuids.get(incident.tokenId ?? 0) ?? null;
      const workflowError = failures.get(incident.workflowRunId ?? '') ?? null;
      return head === undefined ? [] : [{ incident, head, tokenUuid, workflowError }];
    });
  }
}

function toListedIncident({ incident, head, tokenUuid, workflowError }: ResolvedIncident): ListedIncidentDto {
  return {
    uuid: incident.uuid,
    state: incident.state,
    code: incident.type,
    source: incident.source,
    message: incident.message,
    applicationId: head.appId,
    buildId: head.buildId,
    processDefinitionName: head.processName,
    processInstanceUuid: head.uuid,
    processInstanceState: head.state,
    tokenUuid,
    bpmnElementId: incident.element,
    actionSvcUuid: incident.actionSvcUuid,
    workflowRunId: incident.workflowRunId,
    workflowError,
    requestId: incident.requestId,
    raisedAt: timeOfUuid(incident.uuid).toISOString(),
    timestamp: incident.raisedAt.toISOString(),
    closedAt: incident.closedAt?.toISOString() ?? null,
  };
}
