import type { InstanceStatus } from '../engine/state/engine.types.js';

/** Where an instance stands after an operation. */
export interface OperationView {
  uuid: string;
  state: InstanceStatus;
}

/** What a retry did. */
export interface RetryView extends OperationView {
  /** Uuids of the incidents that are closed by it. */
  retriedIncidents: string[];
  /** Of several incidents those that stay open, and why; absent when all were retried. */
  notRetried?: IncidentNotRetried[];
}

/** An incident that could not be retried. */
export interface IncidentNotRetried {
  uuid: string;
  message: string;
}
