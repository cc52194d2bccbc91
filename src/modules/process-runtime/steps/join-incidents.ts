import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { orderedUuid } from '../../../common/ordered-uuid.js';
import type { JoinState, StepResult } from '../engine/state/engine.types.js';
import { isRunning } from '../engine/flow/stuck-joins.js';
import { nameOf } from '../engine/flow/token-flow.js';
import { workKeyOf } from './runtime-job.js';
import { IncidentsRepository, type IncidentHead, type IncidentRow } from '../storage/incidents.repository.js';
import type { InstanceRow } from '../storage/instance.row.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';
import type { StepBase, WriteContext } from './step.types.js';
import { processLimits } from '../process.limits.js';

/** Type of the incident of a join that can never be completed. */
export const JOIN_NEVER_COMPLETED = 'JOIN_NEVER_COMPLETED';

/** Incidents of joins that a step raises and closes. */
export interface JoinChanges {
  raised: IncidentRow[];
  closed: IncidentHead[];
}

/**
 * Incidents of joins that can never be completed. They are no failure of a step but come of it, so they are written with it: one
 * for each join, for as long as it is stuck.
 */
@Injectable()
export class JoinIncidents {
  private readonly most: number;

  constructor(private readonly incidents: IncidentsRepository) {
    this.most = processLimits.incidents;
  }

  /** What the step changes; beyond `incidents` a join has none until a later step finds room. */
  async changes(
    manager: EntityManager,
    { row, definition }: StepBase,
    { instance }: StepResult,
    context: WriteContext,
  ): Promise<JoinChanges> {
    const stuck = isRunning(instance) ? instance.joins.filter(isStuck) : [];
    if (stuck.length === 0 && !row.content.joins.some(isStuck)) {
      return { raised: [], closed: [] };
    }
    const all = row.openIncidents === 0 ? [] : await this.incidents.open(manager, row.id);
    const open = all.filter(({ type }) => type === JOIN_NEVER_COMPLETED);
    const known = new Set(open.map(({ workKey }) => workKey));
    const keys = new Set(stuck.map(keyOf));
    const raised = stuck
      .filter((join) => !known.has(keyOf(join)))
      .slice(0, Math.max(0, this.most - row.openIncidents))
      .map((join) => toIncident(join, definition, context));
    return { raised, closed: open.filter(({ workKey }) => !keys.has(workKey)) };
  }

  async write(
    manager: EntityManager,
    row: InstanceRow,
    { raised, closed }: JoinChanges,
    now: Date,
  ): Promise<void> {
    for (const incident of raised) {
      await this.incidents.insert(manager, row, incident);
    }
    await this.incidents.close(
      manager,
      row.id,
      closed.map(({ id }) => id),
      'RESOLVED',
      now,
    );
  }
}

/** Whether a join can never be completed. */
function isStuck({ missing }: JoinState): boolean {
  return missing !== undefined;
}

function keyOf({ node, scopeTokenId }: JoinState): string {
  return workKeyOf(null, { tokenId: scopeTokenId, visit: null, node, actionSvcUuid: JOIN_NEVER_COMPLETED });
}

function toIncident(
  join: JoinState,
  { runtime }: RunnableDefinition,
  { ids, now, origin }: WriteContext,
): IncidentRow {
  const flows = (join.missing ?? []).map((flow) => `"${runtime.flow(flow).key}"`).join(', ');
  return {
    id: ids.incident(),
    uuid: orderedUuid(now),
    state: 'OPEN',
    source: 'NODE',
    type: JOIN_NEVER_COMPLETED,
    message: `The join ${nameOf(runtime.node(join.node))} can never be completed: no token can come over ${flows} any more.`,
    tokenId: null,
    visit: null,
    node: join.node,
    element: runtime.node(join.node).key,
    workflowRunId: null,
    actionSvcUuid: null,
    job: null,
    workKey: keyOf(join),
    requestId: origin.requestId,
    raisedAt: now,
    closedAt: null,
  };
}
