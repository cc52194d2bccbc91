import { Matches } from 'class-validator';
import {
  Answer,
  Shows,
  NEXT_PAGE,
  NEXT_PAGE_AFTER,
  Fields,
} from '../../platform/openapi/answer-fields.decorators.js';
import type { Page } from '../../platform/validation/page.js';
import {
  IsPageLimit,
  IsQueryId,
  IsInQuery,
  IsQueryName,
  inRange,
} from '../../platform/validation/query.decorators.js';
import { AppVersionState, type StoredVersion } from '../apps.types.js';

/** Cursor of a list of versions: milliseconds, up to 14 digits as databases accept, and the id of a version. */
const CURSOR = /^[0-9]{1,14}-[A-Za-z0-9._-]{1,64}$/;

export class ApplicationsQueryDto extends Fields({
  after: IsQueryId('The `next` of the previous page: only applications after this id.'),
  limit: IsPageLimit('Applications'),
}) {}

export class AppVersionsQueryDto extends Fields({
  status: IsQueryName('AppVersionState', Object.values(AppVersionState), 'Only versions with this status.', {
    message: 'must be DRAFT or COMMITTED',
  }),
  ...inRange('versions that were created'),
  before: IsInQuery<string>(
    {
      type: String,
      pattern: CURSOR.source,
      description: 'The `next` of the previous page.',
    },
    Matches(CURSOR, { message: 'must be the value of next from a page' }),
  ),
  limit: IsPageLimit('Versions'),
}) {}

export class ListedApplicationDto extends Answer({
  applicationId: Shows.value('Id of the application.', 'sample'),
  versions: Shows.number('Number of its versions.', 2),
  createdDate: Shows.moment('When the first version was created.', '2026-01-30T09:00:00.000Z'),
  committedDate: Shows.momentOrNull(
    'When a version was last committed; null when none was.',
    '2026-01-31T10:20:30.123Z',
  ),
}) {}

export class ApplicationPageDto extends Answer({
  applications: Shows.list(() => ListedApplicationDto, 'By id.'),
  next: Shows.textOrNull(NEXT_PAGE_AFTER, null),
}) {}

export class ListedVersionDto extends Answer({
  applicationId: Shows.value('Id of the application.', 'sample'),
  applicationVersionId: Shows.value('Id of the version: `versionId` in paths.', 'v2'),
  status: Shows.enum('AppVersionState', AppVersionState, 'A committed version is read-only.', 'COMMITTED'),
  createdDate: Shows.moment(
    'When it was created, with its first system or package.',
    '2026-01-31T10:00:00.000Z',
  ),
  committedDate: Shows.momentOrNull('When it was committed; null for a draft.', '2026-01-31T10:20:30.123Z'),
}) {}

export class VersionPageDto extends Answer({
  versions: Shows.list(() => ListedVersionDto, 'Newest first.'),
  next: Shows.textOrNull(NEXT_PAGE, null),
}) {}

export function toVersionPage({ items, next }: Page<StoredVersion>): VersionPageDto {
  return {
    versions: items.map(({ appId, appVersionId, state, createdAt, committedAt }) => ({
      applicationId: appId,
      applicationVersionId: appVersionId,
      status: state,
      createdDate: createdAt,
      committedDate: committedAt,
    })),
    next,
  };
}
