import { denialOf } from '../../platform/auth/auth.errors.js';
import { Permission } from '../../platform/auth/permission.js';
import { apiRoutes } from '../../platform/http/api-routes.js';
import { ApplicationPageDto, VersionPageDto } from './application.dto.js';

const FIRST = '2026-01-30T09:00:00.000Z';
const SECOND = '2026-01-31T10:00:00.000Z';
const COMMITTED = '2026-01-31T10:20:30.123Z';

const APPLICATION_PAGE_EXAMPLE = {
  applications: [
    { applicationId: 'sample', versions: 2, createdDate: FIRST, committedDate: COMMITTED },
    { applicationId: 'scoring', versions: 1, createdDate: FIRST, committedDate: null },
  ],
  next: null,
};

const VERSION_PAGE_EXAMPLE = {
  versions: [
    {
      applicationId: 'sample',
      applicationVersionId: 'v2',
      status: 'DRAFT',
      createdDate: SECOND,
      committedDate: null,
    },
    {
      applicationId: 'sample',
      applicationVersionId: 'v1',
      status: 'COMMITTED',
      createdDate: FIRST,
      committedDate: COMMITTED,
    },
  ],
  next: null,
};

export const ApplicationsApi = apiRoutes([{ 403: denialOf(Permission.ApplicationDelivery) }], {
  listApplications: {
    summary: 'List applications',
    description:
      'Extension of the contract. Applications with at least one version, by id. Lists only applications that the permission is ' +
      'granted for. Follow `next` until it is null.',
    answer: {
      type: ApplicationPageDto,
      example: APPLICATION_PAGE_EXAMPLE,
      description: 'A page of applications.',
    },
  },
  listVersions: {
    summary: 'List the versions of an application',
    description:
      'Extension of the contract. Versions with systems or packages, newest first. Follow `next` until it is null. The list of an ' +
      'unknown application is empty.',
    answer: { type: VersionPageDto, example: VERSION_PAGE_EXAMPLE, description: 'A page of versions.' },
  },
});
