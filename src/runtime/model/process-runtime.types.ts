import type { EngineEventKind } from '#engine/tokens';
import type { SearchTerm } from './search-terms.js';
import type { InstancesQueryDto } from './instance.params.dto.js';

/** What the audit trail of an instance tells of: what the engine did, and what became of what it could not do. */
export type ProcessEventKind = EngineEventKind | 'INCIDENT_RAISED' | 'INCIDENT_CLOSED';

export type IncidentState = 'OPEN' | 'RESOLVED' | 'RETRIED';

/** What became of incidents, in the order in which they are told. */
export const INCIDENT_STATES: readonly IncidentState[] = ['OPEN', 'RESOLVED', 'RETRIED'];

/** Which instances to list; of `data` all values must be there. */
export type InstanceQuery = Omit<InstancesQueryDto, 'data'> & { data?: readonly SearchTerm[] };
