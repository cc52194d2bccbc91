import { Injectable } from '@nestjs/common';
import { Permission } from '../../../../platform/auth/permission.js';
import { Clock } from '../../../../platform/clock.js';
import { ValidationFailedError } from '../../../../platform/errors/request.errors.js';
import { appsOf } from '../../../../platform/user/grant.js';
import type { Principal } from '../../../../platform/user/principal.js';
import { Database } from '../../../../store/database.js';
import type { TimeRange } from '../../../../store/tables/conditions.js';
import { WorkflowRunState } from '../model/workflow.types.js';
import {
  WorkflowUsageRepository,
  type ModelCall,
  type UsageScope,
} from '../storage/workflow-usage.repository.js';
import type { WorkflowUsageDto } from './workflow-usage.dto.js';
import { workflowLimits } from '../workflow.limits.js';

const DAY_MS = 24 * 3_600_000;
const MAX_DAYS = 31;

/** Sums up the usage of workflow runs and their agents. */
@Injectable()
export class WorkflowUsageService {
  constructor(
    private readonly usage: WorkflowUsageRepository,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Returns the usage in applications that the caller may read. @throws ValidationFailedError for too long a range */
  async read(principal: Principal, range: TimeRange): Promise<WorkflowUsageDto> {
    const scope = this.scopeOf(principal, range);
    const most = workflowLimits.usageCalls;
    const { runs, calls } = await this.database.read(async (manager) => ({
      runs: await this.usage.runs(manager, scope),
      calls: await this.usage.modelCalls(manager, scope, most + 1),
    }));
    return {
      from: scope.from.toISOString(),
      to: scope.to.toISOString(),
      runs: Object.values(WorkflowRunState).map((state) => ({ state, count: runs.get(state) ?? 0 })),
      ...sumUsage(calls.slice(0, most)),
      complete: calls.length <= most,
    };
  }

  private scopeOf(principal: Principal, { from, to }: TimeRange): UsageScope {
    // Includes runs that start in the current millisecond.
    const end = to ?? new Date(this.clock.now().getTime() + 1);
    const start = from ?? new Date(end.getTime() - DAY_MS);
    if (end.getTime() - start.getTime() > MAX_DAYS * DAY_MS) {
      throw new ValidationFailedError([
        { field: 'from', rule: `must be at most ${MAX_DAYS} days before to` },
      ]);
    }
    return { from: start, to: end, apps: appsOf(principal, Permission.ProcessRead) };
  }
}

function sumUsage(
  calls: readonly ModelCall[],
): Pick<WorkflowUsageDto, 'agentRuns' | 'modelCalls' | 'inputTokens' | 'outputTokens' | 'cost'> {
  const costs = calls.flatMap(({ usage }) => (typeof usage?.cost === 'number' ? [usage.cost] : []));
  return {
    agentRuns: new Set(calls.map(({ runId }) => runId)).size,
    modelCalls: calls.length,
    inputTokens: calls.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0),
    outputTokens: calls.reduce((sum, { usage }) => sum + (usage?.outputTokens ?? 0), 0),
    cost: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
  };
}
