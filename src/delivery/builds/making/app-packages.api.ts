import { HttpStatus } from '@nestjs/common';
import { getSchemaPath } from '@nestjs/swagger';
import { ANY_OBJECT, apiRoutes } from '../../../platform/http/api-routes.js';
import { PACKAGE_IF_MATCH } from '../../../platform/http/conditional-requests.js';
import { LOCATION_HEADER, REPLAY_HEADER } from '../../../platform/http/answer-headers.js';
import { IDEMPOTENCY_KEY } from '../../../idempotency/idempotency-key.dto.js';
import {
  COMMIT_EXAMPLE,
  COMMITTED_VERSION_EXAMPLE,
  DELIVERY_DENIED,
  MANIFEST_EXAMPLE,
  NO_VERSION,
  PACKAGE_EXAMPLE,
  PACKAGE_MOVED,
  PACKAGE_REFUSED_EXAMPLE,
  STORED_PACKAGE_EXAMPLE,
  VERSION_COMMITTED,
} from '../model/build.examples.js';
import { NewBuildResponseDto } from './build.response.dto.js';
import { CommitVersionRequestDto, CommittedVersionResponseDto } from './commit.dto.js';
import {
  PACKAGE_REFUSED,
  PackageProblemsResponseDto,
  StoredPackageResponseDto,
} from '../model/package.dto.js';

export const AppPackagesApi = apiRoutes([DELIVERY_DENIED], {
  storePackage: {
    summary: 'Store an application package in a draft version',
    description:
      'Extension of the contract. Replaces the package of the version with the given JSON document; creates the version if it is ' +
      'new. If the package is invalid, `problems` lists every problem and nothing is stored. REST and NOSQL_DB systems that the ' +
      'package does not name are deleted; MCP systems are kept. Systems that remain keep their ids, tools and secrets, but a secret ' +
      'is deleted if its connection changes. Storing the same package again changes nothing. 409 also if the package ' +
      'names a library whose package does not list this application in `usableBy`, and with ' +
      `\`${PACKAGE_MOVED}\` if others keep storing packages of the version. 503 also if too many packages are waiting to be checked.`,
    body: {
      schema: { $ref: getSchemaPath('ApplicationPackage') },
      examples: { package: { summary: 'A small package', value: PACKAGE_EXAMPLE } },
    },
    answer: {
      type: StoredPackageResponseDto,
      example: STORED_PACKAGE_EXAMPLE,
      description: 'The package is stored.',
    },
    others: [
      {
        ...PACKAGE_REFUSED,
        description: 'Malformed request, or a package with problems, all of which are listed.',
      },
    ],
    errors: [VERSION_COMMITTED],
  },
  getPackage: {
    summary: 'Get the package of a version',
    description:
      'Extension of the contract. The package as it was delivered, with the unchanged text of its files.',
    answer: { schema: ANY_OBJECT, example: PACKAGE_EXAMPLE, description: 'The package.' },
    errors: [{ 404: 'Application package not found.' }],
  },
  checkPackage: {
    summary: 'Check the package of a version',
    description:
      'Extension of the contract. Checks the stored package against its systems and libraries as they are now. Lists ' +
      'the errors that would prevent a commit, and the warnings of a delivery, a commit and a build. Changes nothing. 409 if the package names a ' +
      'library whose package does not list this application in `usableBy`. 503 also if too many packages are waiting to be checked.',
    answer: {
      type: PackageProblemsResponseDto,
      example: { problems: PACKAGE_REFUSED_EXAMPLE.problems },
      description: 'All problems; an empty list if there are none.',
    },
    errors: [
      { 404: 'Application package not found.' },
      { 409: 'The application may not use a library that its package names.' },
    ],
  },
  commitVersion: {
    summary: 'Commit an application version',
    description:
      'Extension of the contract. Makes the package and systems of the version permanently read-only. Tools can still be synchronised, enabled and disabled. ' +
      '409 if the version is already committed, a system that its package names was deleted, or no build of it can be made; also with ' +
      `\`${PACKAGE_MOVED}\` if others keep storing packages of the version. ` +
      '`warnings` lists systems whose connection was never tested, and agents that cannot use what they refer to.',
    headers: [PACKAGE_IF_MATCH],
    body: {
      type: CommitVersionRequestDto,
      required: false,
      examples: { commit: { summary: 'With a message', value: COMMIT_EXAMPLE } },
    },
    answer: {
      type: CommittedVersionResponseDto,
      example: COMMITTED_VERSION_EXAMPLE,
      description: 'The version is committed.',
    },
    errors: [NO_VERSION, VERSION_COMMITTED, 412],
  },
  createBuild: {
    summary: 'Make a build of a committed version',
    description:
      'Extension of the contract. Makes an immutable snapshot of the processes, workflows and systems, the current definition and ' +
      '`enabled` flag of every tool, and the builds of its libraries. A version can have several builds. Secrets are not copied: ' +
      'a build uses those of the systems of its version. `warnings` lists systems whose connection was never tested, and agents that cannot ' +
      'use what they refer to. 409 also if the application may not use a library that it names (`usableBy`). A repeated request with the same ' +
      '`Idempotency-Key` returns the first build, with current `warnings`.',
    headers: [IDEMPOTENCY_KEY],
    status: HttpStatus.CREATED,
    answer: {
      type: NewBuildResponseDto,
      headers: { ...LOCATION_HEADER, ...REPLAY_HEADER },
      example: { ...MANIFEST_EXAMPLE, warnings: [] },
      description: 'The build and its contents.',
    },
    errors: [NO_VERSION, { 409: 'The application version is a draft: commit it first.' }],
  },
});
