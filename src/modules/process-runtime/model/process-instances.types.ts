import type { PageQuery } from '../../../common/page.js';
import type { TimeRange } from '../../../database/conditions.js';
import type { InstanceStatus } from '../engine/state/engine.types.js';
import type { SearchTerm } from './search-terms.js';

/** Which instances to list. */
export interface InstanceQuery extends PageQuery, TimeRange {
  applicationId?: string;
  processDefinitionName?: string;
  state?: InstanceStatus;
  /** Whether incidents are open. */
  hasIncidents?: 'true' | 'false';
  parentProcessInstanceUuid?: string;
  /** Values of their data; all of them must be there. */
  data?: readonly SearchTerm[];
}

/** Which part of an audit trail to read: before a number and newest first, or after one and oldest first. */
export interface HistoryQuery extends PageQuery<number> {
  after?: number;
}
