import { enterActivity, enterCatchEvent, enterEventGateway } from './activities.js';
import { enterCallActivity } from './calls.js';
import type { NodeKind } from '../../definitions/model/process-graph.types.js';
import { arriveAtJoin, fireInclusiveJoin, isJoin } from '../flow/joins.js';
import { publish } from '../flow/waits.js';
import type { RuntimeNode } from '../state/runtime-definition.js';
import { enterSubProcess, terminateScope, throwBpmnError } from '../flow/scopes.js';
import type { Arrival, StepRun } from '../state/step-run.js';
import { endToken, enter, leave } from '../flow/token-flow.js';

/** Growth of the delay between consecutive steps without a wait. */
const CONTINUE_DELAY_MS = 100;

/**
 * Moves tokens until all rest. A step executes a bounded number of nodes and leaves the rest to a CONTINUE job, so that a loop without
 * a wait blocks neither the row lock nor the request.
 */
export function drain(run: StepRun): void {
  const before = run.instance.pending.length;
  do {
    for (let next = run.queue.shift(); next !== undefined; next = run.queue.shift()) {
      serve(run, next);
    }
  } while (fireInclusiveJoin(run));
  if (run.instance.pending.length > before) {
    continueLater(run);
  } else if (run.instance.pending.length === 0) {
    run.instance.continues = 0;
  }
  if (run.instance.tokens.size === 0 && run.instance.state === 'STARTED') {
    finish(run);
  }
}

/** Schedules the next step: immediately for the first tenth of the allowed steps, then with growing delays, in case of an endless loop. */
function continueLater(run: StepRun): void {
  const { instance, context } = run;
  instance.continues += 1;
  const late = Math.max(0, instance.continues - Math.ceil(context.limits.continues / 10));
  run.jobs.push({ kind: 'CONTINUE', at: context.now + late * CONTINUE_DELAY_MS });
}

function serve(run: StepRun, arrival: Arrival): void {
  if (run.token(arrival.tokenId) === undefined) {
    return;
  }
  if ('node' in arrival) {
    arrive(run, arrival.tokenId, arrival.node, null);
    return;
  }
  if (isLong(run)) {
    run.instance.pending = [...run.instance.pending, arrival];
    return;
  }
  run.arrivals += 1;
  arrive(run, arrival.tokenId, run.definition.flow(arrival.flow).target, arrival.flow);
}

/** Whether the step should end here. A single node may use the whole work budget, so no further node starts once half is spent. */
function isLong(run: StepRun): boolean {
  return run.arrivals >= run.context.limits.nodesPerStep || run.work.isHalfSpent;
}

function arrive(run: StepRun, id: number, index: number, flow: number | null): void {
  const node = run.definition.node(index);
  const token = enter(run, id, index);
  if (flow !== null && isJoin(node)) {
    arriveAtJoin(run, token, flow);
  } else {
    BEHAVIOUR[node.kind](run, id, node);
  }
}

/** Handler of each kind of node for an arriving token. Joins are handled before. */
const BEHAVIOUR: Record<NodeKind, (run: StepRun, id: number, node: RuntimeNode) => void> = {
  START_EVENT: leave,
  END_EVENT: enterEndEvent,
  INTERMEDIATE_CATCH_EVENT: enterCatchEvent,
  INTERMEDIATE_THROW_EVENT: (run, id, node) => {
    throwMessage(run, id, node);
    leave(run, id);
  },
  BOUNDARY_EVENT: leave,
  TASK: enterActivity,
  USER_TASK: enterActivity,
  SEND_TASK: enterActivity,
  RECEIVE_TASK: enterActivity,
  EXCLUSIVE_GATEWAY: leave,
  PARALLEL_GATEWAY: leave,
  INCLUSIVE_GATEWAY: leave,
  EVENT_BASED_GATEWAY: enterEventGateway,
  SUB_PROCESS: enterSubProcess,
  CALL_ACTIVITY: enterCallActivity,
};

function throwMessage(run: StepRun, id: number, { event }: RuntimeNode): void {
  if (event?.type === 'MESSAGE') {
    publish(run, run.edit(id), event, {});
  }
}

function enterEndEvent(run: StepRun, id: number, node: RuntimeNode): void {
  if (node.event?.type === 'ERROR') {
    throwBpmnError(run, run.edit(id), node.event.code);
  } else if (node.event?.type === 'TERMINATE') {
    terminateScope(run, id);
  } else {
    throwMessage(run, id, node);
    endToken(run, id);
  }
}

/** Finishes an instance without live tokens (docs/process-semantics.md, section 3). */
function finish(run: StepRun): void {
  const { instance } = run;
  run.setInstanceState('FINISHED');
  if (instance.parentUuid !== null) {
    run.jobs.push({ kind: 'NOTIFY_PARENT', outcome: { state: 'FINISHED', data: instance.data } });
  }
}
