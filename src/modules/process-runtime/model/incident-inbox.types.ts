import type { PageQuery } from '../../../common/page.js';
import type { TimeRange } from '../../../database/conditions.js';
import type { IncidentType } from '../engine/state/engine.types.js';

/** What became of an incident. */
export type IncidentState = 'OPEN' | 'RESOLVED' | 'RETRIED';

/** What became of incidents, in the order in which they are told. */
export const INCIDENT_STATES: readonly IncidentState[] = ['OPEN', 'RESOLVED', 'RETRIED'];

/** Which incidents are meant. Times are those at which they were raised first. */
export interface IncidentFilter extends TimeRange {
  applicationId?: string;
  applicationVersionId?: string;
  buildId?: string;
  processDefinitionName?: string;
  bpmnElementId?: string;
  code?: IncidentType;
}

/** Which incidents to list. */
export interface IncidentQuery extends IncidentFilter, PageQuery {
  state?: IncidentState;
}

/** How many incidents of one kind are open at one place. */
export interface IncidentCount {
  applicationId: string;
  processDefinitionName: string;
  bpmnElementId: string | null;
  code: IncidentType;
  open: number;
}
