import type { InstanceStatus } from './engine/engine.types.js';

/** Where an instance stands after an operation. */
export interface OperationView {
  uuid: string;
  state: InstanceStatus;
}

/** What a retry did. */
export interface RetryView extends OperationView {
  /** Uuids of the incidents that are closed by it. */
  retriedIncidents: string[];
}
