import { apiRoutes } from '../../../common/http/api-routes.js';
import { AUDIT_PAGE_EXAMPLE } from './audit.examples.js';
import { AuditPageDto } from './audit.dto.js';

/** What the OpenAPI document says of the routes beside it. */
export const AuditApi = apiRoutes([403], {
  listAuditEvents: {
    summary: 'List audit events of an application version',
    description:
      'Extension of the contract. Who did what to the version or one of its systems and tools, when, and how it ended; newest first. ' +
      'Events of deleted systems stay. Follow `next` until it is null.',
    answer: { type: AuditPageDto, example: AUDIT_PAGE_EXAMPLE, description: 'A page of events.' },
  },
});
