import { IsInQuery } from '../../platform/validation/query.decorators.js';
import { IntersectionType, PickType } from '@nestjs/swagger';
import { Answer, Shows, Fields } from '../../platform/openapi/answer-fields.decorators.js';
import { IsIn, IsString, Length } from 'class-validator';
import { JsonText } from '../../platform/http/json-replies.js';
import { AppVersionState, type AppVersionStatus } from '../../apps/apps.types.js';
import { SystemType, type ListOptions } from '../model/system.types.js';
import type { SystemList, SystemSummaryRow } from '../storage/system.entity.js';
import { SystemResponseDto } from './system.response.dto.js';

export class ListSystemsQuery extends Fields({
  includeManifestInfo: IsInQuery<'true' | 'false'>(
    {
      type: Boolean,
      default: false,
      description: 'Add manifest information to each item.',
    },
    IsIn(['true', 'false'], { message: 'must be true or false' }),
  ),
  depTypes: IsInQuery<string>(
    {
      type: String,
      maxLength: 255,
      description:
        'Comma-separated types of dependencies whose systems are added, each with its own appId and appVersionId. Known: LIB.',
      example: 'LIB',
    },
    IsString({ message: 'must be given once' }),
    Length(0, 255, { message: 'must have at most 255 characters' }),
  ),
}) {}

/** What the manifest of the application version records about a resource. */
export class ManifestInfoDto extends Answer({
  resourceName: Shows.value(
    'The name it was created with: unique inside the version without regard to case, and what the list is sorted by.',
    'inventory_tools',
  ),
  resourceType: Shows.enum('SystemType', SystemType, 'Type of the system.'),
  status: Shows.enum('AppVersionState', AppVersionState, 'A COMMITTED version can no longer be changed.'),
  lastChangeTime: Shows.moment('When the system last changed.'),
  lastCommittedTime: Shows.momentOrNull('null while the version is a draft.'),
}) {}

/** A system in the list (docs/contract.md, section 2.4). */
export class SystemSummaryDto extends IntersectionType(
  PickType(SystemResponseDto, ['id', 'resourceId', 'resourceDefinitionId'] as const),
  Answer({
    type: Shows.enum('SystemType', SystemType, 'Filter on MCP to pick MCP servers.', SystemType.Mcp),
  }),
  PickType(SystemResponseDto, ['name', 'description'] as const),
  Answer({
    appId: Shows.value('Application it belongs to.', 'sample'),
    appVersionId: Shows.value('Application version it belongs to.', 'v1'),
    manifestInfo: Shows.partIfAsked(() => ManifestInfoDto, 'Only with includeManifestInfo=true.'),
  }),
) {}

export class SystemListResponseDto extends Answer({
  systems: Shows.list(() => SystemSummaryDto, 'Sorted by version and resource name.'),
}) {}

export function toListOptions({ includeManifestInfo, depTypes }: ListSystemsQuery): ListOptions {
  return {
    withManifest: includeManifestInfo === 'true',
    dependencyTypes: (depTypes ?? '').split(',').map((type) => type.trim()),
  };
}

/** Readers who came together get one list, so its text is made once. */
const TEXTS = new WeakMap<SystemList, JsonText>();

/** A list as `SystemListResponseDto`, in JSON. Its items carry a manifest where the list has one. */
export function toSystemListJson(list: SystemList): JsonText {
  const { rows, versions } = list;
  const text =
    TEXTS.get(list) ??
    new JsonText(
      JSON.stringify({
        systems: rows.map((row) => toSummary(row, versions)),
      } satisfies SystemListResponseDto),
    );
  TEXTS.set(list, text);
  return text;
}

function toSummary(row: SystemSummaryRow, versions: SystemList['versions']): SystemSummaryDto {
  const { id, resourceId, resourceDefinitionId, type, name, description, appId, appVersionId } = row;
  const summary = { id, resourceId, resourceDefinitionId, type, name, description, appId, appVersionId };
  return versions === undefined ? summary : { ...summary, manifestInfo: toManifestInfo(row, versions) };
}

function toManifestInfo(row: SystemSummaryRow, versions: AppVersionStatus[]): ManifestInfoDto {
  const { appId, appVersionId, resourceName, type, modifiedAt } = row;
  const version = versions.find((item) => item.appId === appId && item.appVersionId === appVersionId);
  return {
    resourceName,
    resourceType: type,
    status: version?.state ?? AppVersionState.Draft,
    lastChangeTime: modifiedAt,
    lastCommittedTime: version?.committedAt ?? null,
  };
}
