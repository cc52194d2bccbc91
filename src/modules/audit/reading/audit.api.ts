import { apiRoutes } from '../../../common/http/api-routes.js';
import { APPLICATION_AUDIT_PAGE_EXAMPLE, AUDIT_PAGE_EXAMPLE } from './audit.examples.js';
import { ApplicationAuditPageDto, AuditPageDto } from './audit.dto.js';

/** What the OpenAPI document says of the routes beside it. */
export const AuditApi = apiRoutes([403], {
  listAuditEvents: {
    summary: 'List audit events of an application version',
    description:
      'Extension of the contract. Who did what to the version or one of its systems and tools, when, and how it ended; newest first. ' +
      'Events of deleted systems stay. Follow `next` until it is null.',
    answer: { type: AuditPageDto, example: AUDIT_PAGE_EXAMPLE, description: 'A page of events.' },
  },
  listApplicationAuditEvents: {
    summary: 'List audit events over all versions of an application',
    description:
      'Extension of the contract. As `listAuditEvents`, each event with the version that it is told to; newest first. With more filters, ' +
      'of which `applicationVersionId` leaves one version; `outcome=denied` shows who was refused. Follow `next` until it is null. An unknown application has none.',
    answer: {
      type: ApplicationAuditPageDto,
      example: APPLICATION_AUDIT_PAGE_EXAMPLE,
      description: 'A page of events.',
    },
  },
});
