import {
  ConflictError,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  UnavailableError,
} from '../../../platform/errors/domain.error.js';
import type { PackageProblem } from '../../packages/model/package.types.js';
import type { NamedLibrary } from './builds.types.js';

/** Maximum number of problems in `details`; `problems` lists all. */
const MAX_DETAILS = 20;

/** The package cannot be stored. Lists every problem of it. */
export class PackageRefusedError extends InvalidRequestError {
  readonly code = 'PACKAGE_REFUSED';
  override readonly extension: { problems: PackageProblem[] };
  constructor(problems: PackageProblem[]) {
    super('The application package is not valid.', describe(problems));
    this.extension = { problems };
  }
}

/** Another package was stored while this one was edited. */
export class PackageMovedError extends ConflictError {
  readonly code = 'PACKAGE_MOVED';
  constructor() {
    super('The application package was changed at the same time: read it again.');
  }
}

/** No package was stored for the version. */
export class PackageNotFoundError extends NotFoundError {
  readonly code = 'PACKAGE_NOT_FOUND';
  constructor() {
    super('Application package not found.');
  }
}

/** Systems that the package names were deleted after it was stored. */
export class PackageSystemsMissingError extends ConflictError {
  readonly code = 'PACKAGE_SYSTEMS_MISSING';
  constructor(resourceNames: string[]) {
    super(
      'Systems of the application package were deleted: store the package again.',
      resourceNames.join(', '),
    );
  }
}

/** The stored package no longer passes the checks, which may be stricter in a newer release of the service. */
export class PackageOutdatedError extends ConflictError {
  readonly code = 'PACKAGE_OUTDATED';
  /** @param remedy what the deliverer can do: a committed version cannot be changed */
  constructor(
    problems: PackageProblem[],
    remedy: 'fix the problems and deliver it again' | 'fix the problems and deliver it to another version',
  ) {
    super(`The stored application package cannot be built by this release: ${remedy}.`, describe(problems));
  }
}

/** Too many comparisons wait (`comparisonQueue`), or this one waited for too long. */
export class BuildComparisonsBusyError extends UnavailableError {
  readonly code = 'BUILD_COMPARISONS_BUSY';
  readonly retryAfterSeconds = 5;
  constructor() {
    super('Too many build comparisons are waiting; try again.');
  }
}

/** The build does not exist or belongs to another application. */
export class BuildNotFoundError extends NotFoundError {
  readonly code = 'BUILD_NOT_FOUND';
  constructor() {
    super('Build not found for this application.');
  }
}

/** The build was withdrawn and can no longer be started. */
export class BuildWithdrawnError extends ConflictError {
  readonly code = 'BUILD_WITHDRAWN';
  constructor() {
    super('The build was withdrawn: it can no longer be started or activated.');
  }
}

/** The stored build does not match its checksum, so nothing of it runs. */
export class BuildDamagedError extends ConflictError {
  readonly code = 'BUILD_DAMAGED';
  constructor(buildId: string) {
    super(
      `The stored data of build "${buildId}" does not match its checksum, so it cannot run. Restore it or make another build.`,
    );
  }
}

/** The build was never active, and the caller may not deliver the application. */
export class BuildNeverActiveError extends ForbiddenError {
  readonly code = 'BUILD_NEVER_ACTIVE';
  constructor() {
    super('The build was never active: only users who may deliver the application can start its processes.');
  }
}

/** A library must not be called now: its build was withdrawn, or its owner no longer lets the application use it. */
export class LibraryRefusedError extends NotFoundError {
  readonly code = 'LIBRARY_REFUSED';
  constructor({ appId, buildId }: { appId: string; buildId: string }, refusal: LibraryRefusal) {
    const why = refusal === 'WITHDRAWN' ? 'was withdrawn' : 'may no longer be used';
    super(`Build "${buildId}" of library "${appId}" ${why}.`);
  }
}

/** Why an application must not use a build as a library. */
export type LibraryRefusal = 'WITHDRAWN' | 'NO_CONSENT';

/** The package of a library does not list the application in `usableBy`. */
export class LibraryNotUsableError extends ConflictError {
  readonly code = 'LIBRARY_NOT_USABLE';
  constructor(appId: string, library: NamedLibrary, refusal?: LibraryRefusal) {
    const remedy =
      refusal === 'WITHDRAWN'
        ? 'it was withdrawn. Name another build.'
        : `its owner must add "${appId}" to "usableBy" in its application.json, commit and make a build. Then name that build here.`;
    super(
      `Application "${appId}" may not use build "${library.buildId}" of library "${library.appId}": ${remedy}`,
    );
  }
}

/** The application has no active build. */
export class ActiveBuildNotFoundError extends NotFoundError {
  readonly code = 'ACTIVE_BUILD_NOT_FOUND';
  constructor() {
    super('The application has no active build.');
  }
}

/** The build has no process of this name (docs/process-semantics.md, section 2). */
export class ProcessDefinitionNotFoundError extends NotFoundError {
  readonly code = 'PROCESS_DEFINITION_NOT_FOUND';
  constructor() {
    super('Process definition not found.');
  }
}

/** The build has no workflow of this name. */
export class WorkflowNotFoundError extends NotFoundError {
  readonly code = 'WORKFLOW_NOT_FOUND';
  constructor() {
    super('Workflow not found.');
  }
}

/** The workflow has no node of this id. */
export class WorkflowNodeNotFoundError extends NotFoundError {
  readonly code = 'WORKFLOW_NODE_NOT_FOUND';
  constructor() {
    super('Workflow node not found.');
  }
}

/** The workflow already has a node of this id. */
export class WorkflowNodeExistsError extends ConflictError {
  readonly code = 'WORKFLOW_NODE_EXISTS';
  constructor() {
    super('The workflow already has a node with this id.');
  }
}

/** The node has changed since the caller read it. */
export class WorkflowNodeChangedError extends ConflictError {
  readonly code = 'WORKFLOW_NODE_CHANGED';
  constructor() {
    super('The workflow node was changed meanwhile: read it again.');
  }
}

function describe(problems: PackageProblem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const named = errors
    .slice(0, MAX_DETAILS)
    .map(({ file, element, message }) => `${file}${element === null ? '' : ` (${element})`}: ${message}`);
  const more = errors.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
