import type { InstanceStatus } from '../engine/state/engine.types.js';
import type { InstanceRow } from '../storage/instance.row.js';

const ENDED: ReadonlySet<InstanceStatus> = new Set([
  'FINISHED',
  'FAILED',
  'EXPIRED',
  'TERMINATED',
  'DISMISSED',
  'ABORTED',
]);

/** Whether an instance has come to its end. */
export function hasEnded(state: InstanceStatus): boolean {
  return ENDED.has(state);
}

/** Whether a step lets an instance go on that was on hold. */
export function isReleased(row: InstanceRow, state: InstanceStatus): boolean {
  return row.state === 'ONHOLD' && state === 'STARTED';
}
