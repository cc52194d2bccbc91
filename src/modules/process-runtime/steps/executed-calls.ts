import type { EngineCommand, ExecutedCall, InstanceState, StepResult } from '../engine/state/engine.types.js';
import type { LockTime } from '../storage/instances.repository.js';
import type { LoadedInstance } from './step.types.js';

/** Executions that an instance remembers at the least; of more than these only those within the window. */
const KEPT = 20;
/** How long an execution on a token that has ended is remembered, for calls that were received before it and have waited. */
const ENDED_MS = 60_000;

/** The present time on the clock of the database, in epoch milliseconds. */
export function databaseTimeOf({ at, sentAt }: LockTime): number {
  return at + performance.now() - sentAt;
}

/** The executions of an instance with one more: the last one of each action on each token. */
export function remembered(
  { executions, tokens }: Pick<InstanceState, 'executions' | 'tokens'>,
  executed: ExecutedCall,
  windowMs: number,
): ExecutedCall[] {
  const { tokenId: id, actionSvcUuid: action, at } = executed;
  const kept = executions.filter(
    (other) =>
      (other.tokenId !== id || other.actionSvcUuid !== action) &&
      (tokens.has(other.tokenId) || other.at > at - ENDED_MS),
  );
  const all = [...kept, executed];
  return all.filter((other, index) => index >= all.length - KEPT || other.at > at - windowMs);
}

/** A step of the background that went on with an action is the last step of the execution that has set it off. */
export function prolonged(
  result: StepResult,
  { row, locked }: LoadedInstance,
  command: EngineCommand,
): StepResult {
  const { instance } = result;
  const isLast = ({ tokenId, visit }: ExecutedCall): boolean =>
    (command.kind === 'ACTION_DUE' || command.kind === 'ACTION_DONE') &&
    tokenId === command.tokenId &&
    visit === command.visit;
  if (!instance.executions.some(isLast)) {
    return result;
  }
  const last = { at: databaseTimeOf(locked), rev: row.rev + 1 };
  const executions = instance.executions.map((call) => (isLast(call) ? { ...call, ...last } : call));
  return { ...result, instance: { ...instance, executions } };
}
