import { ApiProperty } from '@nestjs/swagger';
import { NEXT_PAGE, Shows } from '../../../common/answer-fields.decorators.js';
import type { Page } from '../../../common/page.js';
import { UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import {
  BuildStatus,
  type BuildManifest,
  type BuildResource,
  type BuildSummary,
  type MadeBuild,
} from '../model/builds.types.js';
import { PackageProblemDto } from '../model/package.dto.js';

const RESOURCE_TYPES = ['PROCESS', 'WORKFLOW', 'REST', 'NOSQL_DB', 'MCP'] as const;

/** A build in a list. */
export class BuildSummaryDto {
  @Shows.uuid('Id of the build.')
  buildId: string;

  @Shows.enum(
    'BuildStatus',
    BuildStatus,
    'Status of the build; `WITHDRAWN` when nothing of it is started any more.',
  )
  buildStatus: BuildStatus;

  @Shows.value('Id of the application.', 'sample')
  applicationId: string;

  @Shows.value('Id of the version it was made of.', 'v1')
  applicationVersionId: string;

  @Shows.value(
    'SHA-256 of everything in the build; equal for builds that hold the same.',
    '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  )
  checksum: string;

  @Shows.moment('When it was made.', '2026-01-31T10:20:30.123Z')
  createdDate: string;

  @Shows.part(() => UserReferenceDto, 'Who made it.')
  createdBy: UserReferenceDto;
}

/** A resource in a build. */
export class BuildResourceDto {
  @ApiProperty({ enum: RESOURCE_TYPES, description: 'Kind of resource.', example: 'PROCESS' })
  resourceType: BuildResource['resourceType'];

  @Shows.value('Name in its version.', 'loan_onboarding')
  name: string;

  @Shows.value('Id that belongs to this version of the resource.')
  resourceId: string;

  @Shows.value('Id that is the same in all versions.')
  resourceDefinitionId: string;
}

/** A library of a build. */
export class BuildLibraryDto {
  @Shows.value('Application that is the library.', 'scoring')
  appId: string;

  @Shows.uuid('Its build.')
  buildId: string;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: '1 for a library of the package itself, more for libraries of libraries.',
    example: 1,
  })
  level: number;
}

/** What a build holds. */
export class BuildManifestResponseDto extends BuildSummaryDto {
  @Shows.list(() => BuildResourceDto, 'Processes, workflows and systems, each kind by name.')
  resources: BuildResourceDto[];

  @Shows.list(() => BuildLibraryDto, 'Libraries, direct and transitive, the closest first.')
  libraries: BuildLibraryDto[];
}

/** A new build. */
export class NewBuildResponseDto extends BuildManifestResponseDto {
  @Shows.list(
    () => PackageProblemDto,
    'Remarks about the build, such as systems whose connection was never tested and agents without a tool that is ready.',
  )
  warnings: PackageProblemDto[];
}

/** A page of builds. */
export class BuildPageDto {
  @Shows.list(() => BuildSummaryDto, 'Newest first.')
  builds: BuildSummaryDto[];

  @Shows.textOrNull(NEXT_PAGE)
  next: string | null;
}

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
