import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Shows } from '../../../common/answer-fields.decorators.js';
import { ErrorResponseDto } from '../../../common/errors/error.response.dto.js';
import { PACKAGE_REFUSED_EXAMPLE } from './build.examples.js';

/** Something wrong in a package. */
export class PackageProblemDto {
  @ApiProperty({
    enum: ['error', 'warning'],
    description: 'Errors refuse the package; warnings are only told.',
    example: 'error',
  })
  severity: 'error' | 'warning';

  @Shows.value('What kind of problem, for programs.', 'LIBRARY_NOT_FOUND')
  code: string;

  @Shows.value('File of the folder form of the package; empty where none is meant.', 'application.json')
  file: string;

  @Shows.textOrNull(
    'Id of the BPMN element, or JSON pointer in the file; null for the whole file.',
    '/libraries/0',
  )
  element: string | null;

  @Shows.value('What is wrong and what to change.', 'There is no such build.')
  message: string;

  @ApiPropertyOptional({
    description: 'Name of the BPMN element or of the node, as a modeler shows it; absent without one.',
    example: 'Approve the loan',
  })
  elementName?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    description: 'Line of the element in the BPMN file; absent elsewhere.',
    example: 12,
  })
  line?: number;
}

/** The error body of a refused package (RFC 9457, section 3.2). */
export class PackageRefusedResponseDto extends ErrorResponseDto {
  @ApiPropertyOptional({
    type: () => [PackageProblemDto],
    description: 'Everything that is wrong with the package; absent when the request itself was.',
  })
  problems?: PackageProblemDto[];
}

/** A 400 of a route that takes a package, or a part of one. */
export const PACKAGE_REFUSED = {
  status: 400,
  type: PackageRefusedResponseDto,
  example: PACKAGE_REFUSED_EXAMPLE,
};

/** What a delivery did to the systems of the version. */
export class ImportedSystemsDto {
  @Shows.texts('Resource names of new systems.')
  added: string[];

  @Shows.texts('Resource names of systems that are different now.')
  changed: string[];

  @Shows.texts('Resource names of systems that are gone.')
  removed: string[];
}

/** The answer to a stored package. */
export class StoredPackageResponseDto {
  @Shows.value(
    'SHA-256 of the canonical JSON (RFC 8785) of the package.',
    '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  )
  checksum: string;

  @Shows.value('False when all of it was stored already.', true)
  changed: boolean;

  @Shows.part(() => ImportedSystemsDto, 'What became of the systems of the version.')
  systems: ImportedSystemsDto;

  @Shows.list(() => PackageProblemDto, 'Remarks about the package.')
  warnings: PackageProblemDto[];
}

/** What is wrong with a stored package. */
export class PackageProblemsResponseDto {
  @Shows.list(
    () => PackageProblemDto,
    'Errors and warnings; none for a package that can be committed without remarks.',
  )
  problems: PackageProblemDto[];
}
