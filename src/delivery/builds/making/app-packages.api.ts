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
      'Extension of the contract. The whole package as one JSON document, in the place of the one before; the version comes into ' +
      'being when it is new. Everything wrong is told at once under `problems`, and then nothing is stored. The package is the ' +
      'whole truth about REST and NOSQL_DB systems of the version; MCP systems that it does not name stay. Systems that stay keep ' +
      'their ids, tools and secrets; a secret goes when its connection leads elsewhere. The same package again changes nothing. ' +
      '409 also where it names a library whose package does not say that this application may use it (`usableBy`), and with ' +
      `\`${PACKAGE_MOVED}\` where others stored packages of the version all the time. 503 also where too many packages wait for their check.`,
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
        description: 'Malformed request, or a package with problems, all of which are told.',
      },
    ],
    errors: [VERSION_COMMITTED],
  },
  getPackage: {
    summary: 'Get the package of a version',
    description:
      'Extension of the contract. The package as it was delivered; the text of its files is unchanged.',
    answer: { schema: ANY_OBJECT, example: PACKAGE_EXAMPLE, description: 'The package.' },
    errors: [{ 404: 'Application package not found.' }],
  },
  checkPackage: {
    summary: 'Check the package of a version',
    description:
      'Extension of the contract. What is wrong with the package as it is stored, and with the systems and libraries that it names as they are now: ' +
      'the errors with which a commit would be refused, and the warnings of a delivery, a commit and a build. Nothing is changed. 409 where it names a library ' +
      'whose package does not say that this application may use it (`usableBy`). 503 also where too many packages wait for their check.',
    answer: {
      type: PackageProblemsResponseDto,
      example: { problems: PACKAGE_REFUSED_EXAMPLE.problems },
      description: 'All problems, none for a package without any.',
    },
    errors: [
      { 404: 'Application package not found.' },
      { 409: 'The application may not use a library that its package names.' },
    ],
  },
  commitVersion: {
    summary: 'Commit an application version',
    description:
      'Extension of the contract. The version becomes read-only for ever: its package and its systems. Tools can still be synchronised and switched. ' +
      '409 when that was done before, when a system that its package names was deleted, or when no build of it could be made; also with ' +
      `\`${PACKAGE_MOVED}\` where others stored packages of the version all the time. ` +
      '`warnings` names the systems whose connection was never tested, and agents that cannot use what they refer to.',
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
      'Extension of the contract. An immutable snapshot: processes, workflows, systems of all types, definition and flag of ' +
      'every tool at this moment, and the builds of its libraries. A version can have several builds. Secrets are not copied: ' +
      'a build uses those of the systems of its version. `warnings` names the systems whose connection was never tested, and agents that cannot ' +
      'use what they refer to. 409 also where the application may not use a library that it names (`usableBy`). Sent again with its ' +
      '`Idempotency-Key` it makes no second build, and answers with the first one; its `warnings` are those of now.',
    headers: [IDEMPOTENCY_KEY],
    status: HttpStatus.CREATED,
    answer: {
      type: NewBuildResponseDto,
      headers: { ...LOCATION_HEADER, ...REPLAY_HEADER },
      example: { ...MANIFEST_EXAMPLE, warnings: [] },
      description: 'The build and what it holds.',
    },
    errors: [NO_VERSION, { 409: 'The application version is a draft: commit it first.' }],
  },
});
