import { Answer, AnswerWith, Shows, shows } from '../../../platform/openapi/answer-fields.decorators.js';
import { ErrorResponseDto } from '../../../platform/errors/error.response.dto.js';
import type { SystemType } from '../../../systems/model/system.types.js';
import { PACKAGE_REFUSED_EXAMPLE } from './build.examples.js';

/** A problem of a package. */
export class PackageProblemDto extends Answer({
  severity: shows<'error' | 'warning'>({ enum: ['error', 'warning'] })(
    'Errors prevent the package from being stored; warnings do not.',
    'error',
  ),
  code: Shows.value('Machine-readable kind of problem.', 'LIBRARY_NOT_FOUND'),
  file: Shows.value(
    'File in the folder form of the package; empty if the problem concerns no file.',
    'application.json',
  ),
  element: Shows.textOrNull(
    'Id of the BPMN element, or JSON pointer in the file; null for the whole file.',
    '/libraries/0',
  ),
  message: Shows.value('Description of the problem and how to fix it.', 'There is no such build.'),
  elementName: Shows.optionalValue(
    'Name of the BPMN element or node, as shown in a modeler; absent if it has none.',
    'Approve the loan',
  ),
  line: shows<number | undefined>({ type: 'integer', minimum: 1, required: false })(
    'Line of the element in the BPMN file; absent for other files.',
    12,
  ),
}) {}

/** The error body of a refused package (RFC 9457, section 3.2). */
export class PackageRefusedResponseDto extends AnswerWith(ErrorResponseDto, {
  problems: shows<PackageProblemDto[] | undefined>({ type: () => [PackageProblemDto], required: false })(
    'All problems of the package; absent if the request itself was malformed.',
  ),
}) {}

/** The 400 response of routes that accept a package or a part of one. */
export const PACKAGE_REFUSED = {
  status: 400,
  type: PackageRefusedResponseDto,
  example: PACKAGE_REFUSED_EXAMPLE,
};

/** Changes of a delivery to the systems of the version. */
export class ImportedSystemsDto extends Answer({
  added: Shows.texts('Resource names of new systems.'),
  changed: Shows.texts('Resource names of changed systems.'),
  removed: Shows.texts('Resource names of deleted systems.'),
}) {}

export class StoredPackageResponseDto extends Answer({
  checksum: Shows.value(
    'SHA-256 of the canonical JSON (RFC 8785) of the package.',
    '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  ),
  changed: Shows.flag('False if the same package was already stored.', true),
  systems: Shows.part(() => ImportedSystemsDto, 'Changes to the systems of the version.'),
  warnings: Shows.list(() => PackageProblemDto, 'Warnings about the package.'),
}) {}

/** Problems of a stored package. */
export class PackageProblemsResponseDto extends Answer({
  problems: Shows.list(
    () => PackageProblemDto,
    'Errors and warnings; empty if the package can be committed without warnings.',
  ),
}) {}

const RESOURCE_TYPES = ['PROCESS', 'WORKFLOW', 'REST', 'NOSQL_DB', 'MCP'] as const;

export class BuildResourceDto extends Answer({
  resourceType: shows<'PROCESS' | 'WORKFLOW' | SystemType>({ enum: RESOURCE_TYPES })(
    'Kind of resource.',
    'PROCESS',
  ),
  name: Shows.value('Name in its version.', 'loan_onboarding'),
  resourceId: Shows.value('Id of the resource in this version.'),
  resourceDefinitionId: Shows.value('Id of the resource, the same in all versions.'),
}) {}

export class BuildLibraryDto extends Answer({
  appId: Shows.value('Application that is the library.', 'scoring'),
  buildId: Shows.uuid('Its build.'),
  level: shows<number>({ type: 'integer', minimum: 1 })(
    '1 for a library of the package itself, more for libraries of libraries.',
    1,
  ),
}) {}
