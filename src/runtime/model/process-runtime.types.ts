import type { EngineEventKind } from '#engine/tokens';
import type { SearchTerm } from './search-terms.js';
import type { InstancesQueryDto } from './instance.params.dto.js';

/** Kind of an event in the audit trail of an instance: engine events, and incidents raised and closed. */
export type ProcessEventKind = EngineEventKind | 'INCIDENT_RAISED' | 'INCIDENT_CLOSED';

export type IncidentState = 'OPEN' | 'RESOLVED' | 'RETRIED';

/** Incident states in display order. */
export const INCIDENT_STATES: readonly IncidentState[] = ['OPEN', 'RESOLVED', 'RETRIED'];

/** Filters of an instance list, with `data` parsed. An instance must match all values of `data`. */
export type InstanceQuery = Omit<InstancesQueryDto, 'data'> & { data?: readonly SearchTerm[] };
