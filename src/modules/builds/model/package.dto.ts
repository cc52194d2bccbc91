import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ErrorResponseDto } from '../../../common/errors/error.response.dto.js';
import type { PackageProblem } from '../../packages/model/package.types.js';
import type { StoredPackage } from './builds.types.js';

/** Something wrong in a package. */
export class PackageProblemDto {
  @ApiProperty({
    enum: ['error', 'warning'],
    description: 'Errors refuse the package; warnings are only told.',
    example: 'error',
  })
  severity: 'error' | 'warning';

  @ApiProperty({ description: 'What kind of problem, for programs.', example: 'LIBRARY_UNKNOWN' })
  code: string;

  @ApiProperty({
    description: 'File of the folder form of the package; empty where none is meant.',
    example: 'application.json',
  })
  file: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Id of the BPMN element, or JSON pointer in the file; null for the whole file.',
    example: '/libraries/0',
  })
  element: string | null;

  @ApiProperty({ description: 'What is wrong and what to change.', example: 'There is no such build.' })
  message: string;
}

/** The error body of a refused package (RFC 9457, section 3.2). */
export class PackageRefusedResponseDto extends ErrorResponseDto {
  @ApiPropertyOptional({
    type: () => [PackageProblemDto],
    description: 'Everything that is wrong with the package; absent when the request itself was.',
  })
  problems?: PackageProblemDto[];
}

/** What a delivery did to the systems of the version. */
export class ImportedSystemsDto {
  @ApiProperty({ type: [String], description: 'Resource names of new systems.' })
  added: string[];

  @ApiProperty({ type: [String], description: 'Resource names of systems that are different now.' })
  changed: string[];

  @ApiProperty({ type: [String], description: 'Resource names of systems that are gone.' })
  removed: string[];
}

/** The answer to a stored package. */
export class StoredPackageResponseDto {
  @ApiProperty({
    description: 'SHA-256 of the canonical JSON (RFC 8785) of the package.',
    example: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  })
  checksum: string;

  @ApiProperty({ description: 'False when all of it was stored already.', example: true })
  changed: boolean;

  @ApiProperty({ type: () => ImportedSystemsDto, description: 'What became of the systems of the version.' })
  systems: ImportedSystemsDto;

  @ApiProperty({ type: () => [PackageProblemDto], description: 'Remarks about the package.' })
  warnings: PackageProblemDto[];
}

export function toStoredPackage({
  checksum,
  changed,
  systems: { added, changed: changedSystems, removed },
  warnings,
}: StoredPackage): StoredPackageResponseDto {
  const systems = { added, changed: changedSystems, removed };
  return { checksum, changed, systems, warnings: warnings.map(toProblem) };
}

export function toProblem({ severity, code, file, element, message }: PackageProblem): PackageProblemDto {
  return { severity, code, file, element, message };
}
