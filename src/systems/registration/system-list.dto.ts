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
      description: 'Whether to add manifest information to each item.',
    },
    IsIn(['true', 'false'], { message: 'must be true or false' }),
  ),
  depTypes: IsInQuery<string>(
    {
      type: String,
      maxLength: 255,
      description:
        'Comma-separated types of dependencies whose systems to include, with their own appId and appVersionId. Supported: LIB.',
      example: 'LIB',
    },
    IsString({ message: 'must be given once' }),
    Length(0, 255, { message: 'must have at most 255 characters' }),
  ),
}) {}

/** Manifest information about a resource. */
export class ManifestInfoDto extends Answer({
  resourceName: Shows.value(
    'Resource name: unique within the version, ignoring case. The list is sorted by it.',
    'inventory_tools',
  ),
  resourceType: Shows.enum('SystemType', SystemType, 'Type of the system.'),
  status: Shows.enum('AppVersionState', AppVersionState, 'A COMMITTED version can no longer be changed.'),
  lastChangeTime: Shows.moment('When the system last changed.'),
  lastCommittedTime: Shows.momentOrNull('When the version was committed; null for a draft.'),
}) {}

/** A system in the list (docs/contract.md, section 2.4). */
export class SystemSummaryDto extends IntersectionType(
  PickType(SystemResponseDto, ['id', 'resourceId', 'resourceDefinitionId'] as const),
  Answer({
    type: Shows.enum('SystemType', SystemType, 'Type of the system.', SystemType.Mcp),
  }),
  PickType(SystemResponseDto, ['name', 'description'] as const),
  Answer({
    appId: Shows.value('Application of the system.', 'sample'),
    appVersionId: Shows.value('Application version of the system.', 'v1'),
    manifestInfo: Shows.optionalPart(() => ManifestInfoDto, 'Only with includeManifestInfo=true.'),
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

/** JSON texts by list. Concurrent readers share a list, so that it is serialized once. */
const TEXTS = new WeakMap<SystemList, JsonText>();

/** Serializes a list as `SystemListResponseDto`, with manifest information if the list has it. */
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
