import { AddressError, connect, NoAnswerError, ServiceError } from '../../index.js';
import type { ApplicationPackage, PackageProblem, PreflightResponse, SvcClient } from '../../index.js';
import { canonicalJson } from '../../../../../src/platform/json/canonical-json.js';
import { isJsonObject, type JsonObject } from '#engine/json';
import { printable } from '../../../../../src/platform/printable.js';
import { VersionCommittedError } from '../../../../../src/apps/apps.errors.js';

/** Thrown when the service rejects a step of a delivery; `problems` are those of the package, if any. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  constructor(
    message: string,
    readonly problems: PackageProblem[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Result of storing a package. */
export interface StoredDelivery {
  state: 'stored' | 'unchanged';
  isCommitted: boolean;
  /** Checksum of the stored package; undefined if the version was already committed. */
  checksum?: string;
  warnings: PackageProblem[];
}

/** Result of the connection test of a system. */
export interface TestedSystem {
  system: string;
  status: number;
  message: string;
}

/** Service and credentials of a delivery. */
export interface DeliveryTarget {
  url: string;
  token: string;
  timeoutMs: number;
}

export interface DeliveryVersion {
  appId: string;
  versionId: string;
}

const NOT_OURS = 'The server at this address is not svc-platform.';
/** Status of a successful connection test. */
export const TEST_PASSED = 200;
const NOT_FOUND = 404;
const CONFLICT = 409;
const PRECONDITION_FAILED = 412;
const PRECONDITION_REQUIRED = 428;

/** Delivers application packages to a running service. */
export class DeliveryClient {
  private readonly service: SvcClient;

  /** @throws DeliveryError when a token must not be sent to the address */
  constructor(target: DeliveryTarget) {
    try {
      this.service = connect(target);
    } catch (error) {
      throw error instanceof AddressError && error.reason === 'not-http'
        ? new DeliveryError('--url must be an http or https address.')
        : deliveryError(error);
    }
  }

  /**
   * Stores a package. A version that is already committed with the same package is left unchanged.
   * @throws DeliveryError also when the version is committed with a different package
   */
  async store(version: DeliveryVersion, document: JsonObject): Promise<StoredDelivery> {
    const path = pathOf(version);
    // The service reports problems of an invalid package.
    const body = document as unknown as ApplicationPackage;
    try {
      const { changed, checksum, warnings } = await bodyOf(this.service.storePackage({ path, body }));
      return { state: changed ? 'stored' : 'unchanged', isCommitted: false, checksum, warnings };
    } catch (error) {
      if (!isCommittedVersion(error)) {
        throw error;
      }
      await this.requireSame(version, document, error);
      return { state: 'unchanged', isCommitted: true, warnings: [] };
    }
  }

  /** Tests the stored connections of the MCP systems of a version with their stored secrets, which stores the tools that are found. */
  async testConnections(
    version: DeliveryVersion,
    onProgress: (line: string) => void,
  ): Promise<TestedSystem[]> {
    const path = pathOf(version);
    const tested: TestedSystem[] = [];
    const list = await bodyOf(this.service.listSystems({ path }));
    for (const { name, resourceId } of list.systems.filter(({ type }) => type === 'MCP')) {
      onProgress(`testing the connection of ${printable(name)} …`);
      const {
        status,
        message,
        details,
        tools = [],
      } = await bodyOf(
        this.service.testStoredConnection({ path: { ...path, systemResourceId: resourceId } }),
      );
      const found = status === TEST_PASSED ? ` (${tools.length} tools)` : ` (${details ?? ''})`;
      tested.push({ system: name, status, message: `${message}${found}` });
    }
    return tested;
  }

  /** Commits a version, unless its package has another checksum. */
  async commit(
    version: DeliveryVersion,
    message: string | undefined,
    checksum: string,
  ): Promise<PackageProblem[]> {
    const body = message === undefined ? {} : { message };
    const headers = { 'If-Match': `"${checksum}"` };
    return (await bodyOf(this.service.commitVersion({ path: pathOf(version), body, headers }))).warnings;
  }

  async build(version: DeliveryVersion): Promise<{ buildId: string; warnings: PackageProblem[] }> {
    return bodyOf(this.service.createBuild({ path: pathOf(version) }));
  }

  async agents({ appId }: DeliveryVersion, buildId: string): Promise<PreflightResponse> {
    return bodyOf(this.service.preflightBuild({ path: { appId, buildId } }));
  }

  /** Returns the entity tag of the active build for {@link activate}, or null when there is none. */
  async activeTag({ appId }: DeliveryVersion): Promise<string | null> {
    const active = await unlessMissing(jsonResponse(this.service.getActiveBuild({ path: { appId } })));
    return active && active.response.headers.get('ETag');
  }

  /**
   * Activates a build. If the deployment requires `If-Match`, only if it replaces the build that was active before.
   * @param before tag of the previously active build; null when there was none
   * @throws DeliveryError also when another build was activated in the meantime
   */
  async activate({ appId }: DeliveryVersion, buildId: string, before: string | null): Promise<void> {
    const request = { path: { appId }, body: { buildId } };
    try {
      await bodyOf(this.service.activateBuild(request));
    } catch (error) {
      if (refusalIn(error)?.status !== PRECONDITION_REQUIRED) {
        throw error;
      }
      if (before === null) {
        throw activatedMeanwhile(buildId, error);
      }
      await bodyOf(this.service.activateBuild({ ...request, headers: { 'If-Match': before } })).catch(
        (refusal: unknown) => {
          throw refusalIn(refusal)?.status === PRECONDITION_FAILED
            ? activatedMeanwhile(buildId, refusal)
            : refusal;
        },
      );
    }
  }

  private async requireSame(
    version: DeliveryVersion,
    document: JsonObject,
    refusal: DeliveryError,
  ): Promise<void> {
    const stored = await unlessMissing(bodyOf(this.service.getPackage({ path: pathOf(version) })));
    if (stored === null || canonicalJson(stored) !== canonicalJson(document)) {
      throw new DeliveryError(
        `${refusal.message} Its package differs from the folder. Deliver to another version or, if only --library or ` +
          '--base-url differ, use the same values as before.',
      );
    }
  }
}

/** Returns the body of a response. @throws DeliveryError in place of every other error */
async function bodyOf<Body>(answer: Promise<{ data: Body }>): Promise<Body> {
  return (await jsonResponse(answer)).data;
}

/** Returns a response with a JSON object. @throws DeliveryError in place of every other error */
async function jsonResponse<Answer extends { data: unknown }>(answer: Promise<Answer>): Promise<Answer> {
  try {
    const whole = await answer;
    if (!isJsonObject(whole.data)) {
      throw new DeliveryError(NOT_OURS);
    }
    return whole;
  } catch (error) {
    throw error instanceof SyntaxError ? new DeliveryError(NOT_OURS) : deliveryError(error);
  }
}

/** Returns a response, or null for 404. */
async function unlessMissing<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  return answer.catch((error: unknown) => {
    if (refusalIn(error)?.status === NOT_FOUND) {
      return null;
    }
    throw error;
  });
}

function activatedMeanwhile(buildId: string, cause: unknown): DeliveryError {
  return new DeliveryError(
    `Build ${buildId} was made but not activated, because another build was activated in the meantime. Check that build, and run the ` +
      'command again to make another one.',
    [],
    { cause },
  );
}

function deliveryError(error: unknown): unknown {
  if (error instanceof ServiceError) {
    const problems = problemsOf(error.body);
    const why = problems.length === 0 && error.details !== undefined ? ` (${error.details})` : '';
    return new DeliveryError(`${error.status}: ${error.message}${why}`, problems, { cause: error });
  }
  return error instanceof NoAnswerError || error instanceof AddressError
    ? new DeliveryError(error.message, [], { cause: error })
    : error;
}

function refusalIn(error: unknown): ServiceError | null {
  return error instanceof DeliveryError && error.cause instanceof ServiceError ? error.cause : null;
}

function isCommittedVersion(error: unknown): error is DeliveryError {
  const refusal = refusalIn(error);
  return refusal?.status === CONFLICT && refusal.message === new VersionCommittedError().message;
}

function pathOf({ appId, versionId }: DeliveryVersion): DeliveryVersion {
  return { appId, versionId };
}

function problemsOf(body: unknown): PackageProblem[] {
  const problems = isJsonObject(body) ? body['problems'] : null;
  return Array.isArray(problems) ? problems.filter(isProblem) : [];
}

function isProblem(value: unknown): value is PackageProblem {
  return isJsonObject(value) && typeof value['file'] === 'string' && typeof value['message'] === 'string';
}
