import { ApiProperty } from '@nestjs/swagger';
import { UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import {
  BuildStatus,
  type BuildLibrary,
  type BuildManifest,
  type BuildPage,
  type BuildResource,
  type BuildSummary,
  type MadeBuild,
} from '../model/builds.types.js';
import { PackageProblemDto, toProblem } from '../model/package.dto.js';

const RESOURCE_TYPES = ['PROCESS', 'WORKFLOW', 'REST', 'NOSQL_DB', 'MCP'] as const;

/** A build in a list. */
export class BuildSummaryDto {
  @ApiProperty({ format: 'uuid', description: 'Id of the build.' })
  buildId: string;

  @ApiProperty({
    enum: BuildStatus,
    enumName: 'BuildStatus',
    description: 'Status of the build; there are builds of committed versions only.',
  })
  buildStatus: BuildStatus;

  @ApiProperty({ description: 'Id of the application.', example: 'sample' })
  applicationId: string;

  @ApiProperty({ description: 'Id of the version it was made of.', example: 'v1' })
  applicationVersionId: string;

  @ApiProperty({
    description: 'SHA-256 of everything in the build; equal for builds that hold the same.',
    example: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  })
  checksum: string;

  @ApiProperty({ format: 'date-time', description: 'When it was made.', example: '2026-01-31T10:20:30.123Z' })
  createdDate: string;

  @ApiProperty({ type: () => UserReferenceDto, description: 'Who made it.' })
  createdBy: UserReferenceDto;
}

/** A resource in a build. */
export class BuildResourceDto {
  @ApiProperty({ enum: RESOURCE_TYPES, description: 'Kind of resource.', example: 'PROCESS' })
  resourceType: BuildResource['resourceType'];

  @ApiProperty({ description: 'Name in its version.', example: 'loan_onboarding' })
  name: string;

  @ApiProperty({ description: 'Id that belongs to this version of the resource.' })
  resourceId: string;

  @ApiProperty({ description: 'Id that is the same in all versions.' })
  resourceDefinitionId: string;
}

/** A library of a build. */
export class BuildLibraryDto {
  @ApiProperty({ description: 'Application that is the library.', example: 'scoring' })
  appId: string;

  @ApiProperty({ format: 'uuid', description: 'Its build.' })
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
  @ApiProperty({
    type: () => [BuildResourceDto],
    description: 'Processes, workflows and systems, each kind by name.',
  })
  resources: BuildResourceDto[];

  @ApiProperty({
    type: () => [BuildLibraryDto],
    description: 'Libraries, direct and transitive, the closest first.',
  })
  libraries: BuildLibraryDto[];
}

/** A new build. */
export class NewBuildResponseDto extends BuildManifestResponseDto {
  @ApiProperty({
    type: () => [PackageProblemDto],
    description:
      'Remarks about the build, such as systems whose connection was never tested and agents without a tool that is ready.',
  })
  warnings: PackageProblemDto[];
}

/** A page of builds. */
export class BuildPageDto {
  @ApiProperty({ type: () => [BuildSummaryDto], description: 'Newest first.' })
  builds: BuildSummaryDto[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Give it as `before` to read on; null on the last page.',
  })
  next: string | null;
}

export function toBuildPage({ builds, next }: BuildPage): BuildPageDto {
  return { builds: builds.map(toSummary), next };
}

export function toManifest(manifest: BuildManifest): BuildManifestResponseDto {
  return {
    ...toSummary(manifest),
    resources: manifest.resources.map(toResource),
    libraries: manifest.libraries.map(toLibrary),
  };
}

export function toNewBuild(build: MadeBuild): NewBuildResponseDto {
  return { ...toManifest(build), warnings: build.warnings.map(toProblem) };
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

function toResource({
  resourceType,
  name,
  resourceId,
  resourceDefinitionId,
}: BuildResource): BuildResourceDto {
  return { resourceType, name, resourceId, resourceDefinitionId };
}

function toLibrary({ appId, buildId, level }: BuildLibrary): BuildLibraryDto {
  return { appId, buildId, level };
}
