import { Answer, AnswerWith, Shows, shows } from '../../../platform/openapi/answer-fields.decorators.js';
import { ErrorResponseDto } from '../../../platform/errors/error.response.dto.js';
import type { SystemType } from '../../../systems/model/system.types.js';
import { PACKAGE_REFUSED_EXAMPLE } from './build.examples.js';

/** Something wrong in a package. */
export class PackageProblemDto extends Answer({
  severity: shows<'error' | 'warning'>({ enum: ['error', 'warning'] })(
    'Errors refuse the package; warnings are only told.',
    'error',
  ),
  code: Shows.value('What kind of problem, for programs.', 'LIBRARY_NOT_FOUND'),
  file: Shows.value('File of the folder form of the package; empty where none is meant.', 'application.json'),
  element: Shows.textOrNull(
    'Id of the BPMN element, or JSON pointer in the file; null for the whole file.',
    '/libraries/0',
  ),
  message: Shows.value('What is wrong and what to change.', 'There is no such build.'),
  elementName: Shows.valueIfAsked(
    'Name of the BPMN element or of the node, as a modeler shows it; absent without one.',
    'Approve the loan',
  ),
  line: shows<number | undefined>({ type: 'integer', minimum: 1, required: false })(
    'Line of the element in the BPMN file; absent elsewhere.',
    12,
  ),
}) {}

/** The error body of a refused package (RFC 9457, section 3.2). */
export class PackageRefusedResponseDto extends AnswerWith(ErrorResponseDto, {
  problems: shows<PackageProblemDto[] | undefined>({ type: () => [PackageProblemDto], required: false })(
    'Everything that is wrong with the package; absent when the request itself was.',
  ),
}) {}

/** A 400 of a route that takes a package, or a part of one. */
export const PACKAGE_REFUSED = {
  status: 400,
  type: PackageRefusedResponseDto,
  example: PACKAGE_REFUSED_EXAMPLE,
};

/** What a delivery did to the systems of the version. */
export class ImportedSystemsDto extends Answer({
  added: Shows.texts('Resource names of new systems.'),
  changed: Shows.texts('Resource names of systems that are different now.'),
  removed: Shows.texts('Resource names of systems that are gone.'),
}) {}

/** The answer to a stored package. */
export class StoredPackageResponseDto extends Answer({
  checksum: Shows.value(
    'SHA-256 of the canonical JSON (RFC 8785) of the package.',
    '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  ),
  changed: Shows.flag('False when all of it was stored already.', true),
  systems: Shows.part(() => ImportedSystemsDto, 'What became of the systems of the version.'),
  warnings: Shows.list(() => PackageProblemDto, 'Remarks about the package.'),
}) {}

/** What is wrong with a stored package. */
export class PackageProblemsResponseDto extends Answer({
  problems: Shows.list(
    () => PackageProblemDto,
    'Errors and warnings; none for a package that can be committed without remarks.',
  ),
}) {}

const RESOURCE_TYPES = ['PROCESS', 'WORKFLOW', 'REST', 'NOSQL_DB', 'MCP'] as const;

export class BuildResourceDto extends Answer({
  resourceType: shows<'PROCESS' | 'WORKFLOW' | SystemType>({ enum: RESOURCE_TYPES })(
    'Kind of resource.',
    'PROCESS',
  ),
  name: Shows.value('Name in its version.', 'loan_onboarding'),
  resourceId: Shows.value('Id that belongs to this version of the resource.'),
  resourceDefinitionId: Shows.value('Id that is the same in all versions.'),
}) {}

export class BuildLibraryDto extends Answer({
  appId: Shows.value('Application that is the library.', 'scoring'),
  buildId: Shows.uuid('Its build.'),
  level: shows<number>({ type: 'integer', minimum: 1 })(
    '1 for a library of the package itself, more for libraries of libraries.',
    1,
  ),
}) {}
