import type { PageQuery } from '../../../common/page.js';
import type { InstanceStatus } from '../engine/state/engine.types.js';

/** Which instances to list. */
export interface InstanceQuery extends PageQuery {
  applicationId?: string;
  processDefinitionName?: string;
  state?: InstanceStatus;
  /** Whether incidents are open. */
  hasIncidents?: 'true' | 'false';
  parentProcessInstanceUuid?: string;
  from?: Date;
  to?: Date;
  /** The former names. */
  startedFrom?: Date;
  startedTo?: Date;
}

/** Which part of an audit trail to read: before a number and newest first, or after one and oldest first. */
export interface HistoryQuery extends PageQuery<number> {
  after?: number;
}
