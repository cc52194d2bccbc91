import { Answer, AnswerWith, Shows, NEXT_PAGE } from '../../../platform/openapi/answer-fields.decorators.js';
import type { Page } from '../../../platform/validation/page.js';
import { UserReferenceDto } from '../../../platform/user/user-reference.dto.js';
import { BuildStatus, type BuildManifest, type BuildSummary, type MadeBuild } from '../model/builds.types.js';
import { BuildLibraryDto, BuildResourceDto, PackageProblemDto } from '../model/package.dto.js';

export class BuildSummaryDto extends Answer({
  buildId: Shows.uuid('Id of the build.'),
  buildStatus: Shows.enum(
    'BuildStatus',
    BuildStatus,
    'Status of the build; a `WITHDRAWN` build can no longer be started.',
  ),
  applicationId: Shows.value('Id of the application.', 'sample'),
  applicationVersionId: Shows.value('Id of the version that it was made from.', 'v1'),
  checksum: Shows.value(
    'SHA-256 of the contents of the build; equal for builds with equal contents.',
    '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  ),
  createdDate: Shows.moment('Time at which it was made.', '2026-01-31T10:20:30.123Z'),
  createdBy: Shows.part(() => UserReferenceDto, 'User who made it.'),
}) {}

/** Contents of a build. */
export class BuildManifestResponseDto extends AnswerWith(BuildSummaryDto, {
  resources: Shows.list(
    () => BuildResourceDto,
    'Processes, workflows and systems, each kind sorted by name.',
  ),
  libraries: Shows.list(() => BuildLibraryDto, 'Direct and indirect libraries, closest first.'),
}) {}

export class NewBuildResponseDto extends AnswerWith(BuildManifestResponseDto, {
  warnings: Shows.list(
    () => PackageProblemDto,
    'Warnings about the build, such as systems whose connection was never tested and agents without a usable tool.',
  ),
}) {}

export class BuildPageDto extends Answer({
  builds: Shows.list(() => BuildSummaryDto, 'Newest first.'),
  next: Shows.textOrNull(NEXT_PAGE),
}) {}

export function toBuildPage({ items, next }: Page<BuildSummary>): BuildPageDto {
  return { builds: items.map(toSummary), next };
}

export function toManifest({ resources, libraries, ...summary }: BuildManifest): BuildManifestResponseDto {
  return { ...toSummary(summary), resources, libraries };
}

export function toNewBuild(build: MadeBuild): NewBuildResponseDto {
  return { ...toManifest(build), warnings: build.warnings };
}

function toSummary(build: BuildSummary): BuildSummaryDto {
  return {
    buildId: build.buildId,
    buildStatus: build.status,
    applicationId: build.appId,
    applicationVersionId: build.appVersionId,
    checksum: build.checksum,
    createdDate: build.createdAt.toISOString(),
    createdBy: build.createdBy,
  };
}
