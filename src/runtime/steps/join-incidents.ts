import { type JoinState, isRunning, nameOf } from '#engine/tokens';
import { workKeyOf } from './runtime-job.js';
import { Incidents, type IncidentHead, type IncidentRow } from '../storage/incidents.repository.js';
import type { StepWriting } from './step.types.js';
import { processLimits } from '../process.limits.js';
import { newIncident, type Fault } from './incident-records.js';

/** Type of the incidents of joins that can never be completed. */
export const JOIN_NEVER_COMPLETED = 'JOIN_NEVER_COMPLETED';

/** Incidents of joins that a step raises and closes. */
export interface JoinChanges {
  raised: IncidentRow[];
  closed: IncidentHead[];
}

/**
 * Returns the incidents that a step raises and closes for joins that can never be completed. The step itself succeeds, so they are written
 * with it: one per stuck join. Beyond the limit `incidents` a join gets its incident when a later step finds room.
 */
export async function joinChanges(step: StepWriting): Promise<JoinChanges> {
  const { transaction, row, result } = step;
  const { instance } = result;
  const stuck = isRunning(instance) ? instance.joins.filter(isStuck) : [];
  if (stuck.length === 0 && !row.content.joins.some(isStuck)) {
    return { raised: [], closed: [] };
  }
  const all = row.openIncidents === 0 ? [] : await Incidents.open(transaction, row.id);
  const open = all.filter(({ type }) => type === JOIN_NEVER_COMPLETED);
  const known = new Set(open.map(({ workKey }) => workKey));
  const keys = new Set(stuck.map(keyOf));
  const raised = stuck
    .filter((join) => !known.has(keyOf(join)))
    .slice(0, Math.max(0, processLimits.incidents - row.openIncidents))
    .map((join) => toIncident(join, step));
  return { raised, closed: open.filter(({ workKey }) => !keys.has(workKey)) };
}

export async function writeJoins(
  { transaction, row, now }: StepWriting,
  { raised, closed }: JoinChanges,
): Promise<void> {
  for (const incident of raised) {
    await Incidents.insert(transaction, row, incident);
  }
  const ids = closed.map(({ id }) => id);
  await Incidents.close(transaction, row.id, ids, 'RESOLVED', now);
}

function isStuck({ missing }: JoinState): boolean {
  return missing !== undefined;
}

function keyOf({ node, scopeTokenId }: JoinState): string {
  return workKeyOf(null, { tokenId: scopeTokenId, visit: null, node, actionSvcUuid: JOIN_NEVER_COMPLETED });
}

function toIncident(
  join: JoinState,
  { definition: { runtime }, takeId, now, origin }: StepWriting,
): IncidentRow {
  const flows = (join.missing ?? []).map((flow) => `"${runtime.flow(flow).key}"`).join(', ');
  const fault: Fault = {
    source: 'NODE',
    type: JOIN_NEVER_COMPLETED,
    message: `The join ${nameOf(runtime.node(join.node))} can never be completed: no token can arrive over ${flows} any more.`,
    tokenId: null,
    visit: null,
    node: join.node,
    element: runtime.node(join.node).key,
    actionSvcUuid: null,
  };
  const incident = newIncident(takeId('process-incident'), fault, null, now, origin.requestId);
  return { ...incident, workKey: keyOf(join) };
}
