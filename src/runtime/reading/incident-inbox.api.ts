import { denialOf } from '../../platform/auth/auth.errors.js';
import { Permission } from '../../platform/auth/permission.js';
import { apiRoutes } from '../../platform/http/api-routes.js';
import { IncidentCountsDto, IncidentPageDto } from '../model/incident-inbox.dto.js';
import { INCIDENT_COUNTS_EXAMPLE, INCIDENT_PAGE_EXAMPLE } from './instance.examples.js';

export const IncidentInboxApi = apiRoutes([{ 403: denialOf(Permission.ProcessRead) }], {
  listProcessIncidents: {
    summary: 'List incidents of all process instances',
    description:
      'Extension of the contract. Where and why processes stopped, newest first; `state=OPEN` lists what waits for an operator. ' +
      'Follow `next` until it is null. Retry an incident of a token with `retryToken`, any other one with `retryProcessInstance`.',
    answer: { type: IncidentPageDto, example: INCIDENT_PAGE_EXAMPLE, description: 'A page of incidents.' },
  },
  countProcessIncidents: {
    summary: 'Count open incidents by place',
    description:
      'Extension of the contract. Number of open incidents for each application, process, element and kind of failure, highest first.',
    answer: { type: IncidentCountsDto, example: INCIDENT_COUNTS_EXAMPLE, description: 'The counts.' },
  },
});
