import { AddressError, connect, NoAnswerError, ServiceError } from '../../index.js';
import type { ApplicationPackage, PackageProblem, PreflightResponse, SvcClient } from '../../index.js';
import { canonicalJson } from '../../../../../src/platform/json/canonical-json.js';
import { isJsonObject, type JsonObject } from '#engine/json';
import { printable } from '../../../../../src/platform/printable.js';
import { VersionCommittedError } from '../../../../../src/apps/apps.errors.js';

/** Thrown when the service refuses a step of a delivery; `problems` are those of the package, if it is that. */
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

/** What became of a package. */
export interface StoredDelivery {
  state: 'stored' | 'unchanged';
  isCommitted: boolean;
  /** Of the package that was stored; undefined where the version was committed before. */
  checksum?: string;
  warnings: PackageProblem[];
}

/** What came of the test of one system. */
export interface TestedSystem {
  system: string;
  status: number;
  message: string;
}

/** Where to deliver to, and as whom. */
export interface DeliveryTarget {
  url: string;
  token: string;
  timeoutMs: number;
}

/** What is delivered. */
export interface DeliveryVersion {
  appId: string;
  versionId: string;
}

const NOT_OURS = 'What answers at this address is not the service.';
/** Status of a test of a connection that did not fail. */
export const TEST_PASSED = 200;
const NOT_FOUND = 404;
const CONFLICT = 409;
const PRECONDITION_FAILED = 412;
const PRECONDITION_REQUIRED = 428;

/** Delivers application packages to a running service. */
export class DeliveryClient {
  private readonly service: SvcClient;

  /** @throws DeliveryError when the address cannot be trusted with a token */
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
   * Stores a package; a version that is committed with the same package in it is left as it is.
   * @throws DeliveryError also when the version is committed and its package is another
   */
  async store(version: DeliveryVersion, document: JsonObject): Promise<StoredDelivery> {
    const path = pathOf(version);
    // The service says what is wrong with a document that is no package.
    const body = document as unknown as ApplicationPackage;
    try {
      const { changed, checksum, warnings } = await told(this.service.storePackage({ path, body }));
      return { state: changed ? 'stored' : 'unchanged', isCommitted: false, checksum, warnings };
    } catch (error) {
      if (!isCommittedVersion(error)) {
        throw error;
      }
      await this.requireSame(version, document, error);
      return { state: 'unchanged', isCommitted: true, warnings: [] };
    }
  }

  /**
   * Tests the connections of the MCP systems of a version as they are stored, with secrets that the service gives to nobody, and so stores
   * the tools that are found.
   */
  async testConnections(version: DeliveryVersion, tell: (line: string) => void): Promise<TestedSystem[]> {
    const path = pathOf(version);
    const tested: TestedSystem[] = [];
    const list = await told(this.service.listSystems({ path }));
    for (const { name, resourceId } of list.systems.filter(({ type }) => type === 'MCP')) {
      tell(`testing the connection of ${printable(name)} …`);
      const {
        status,
        message,
        details,
        tools = [],
      } = await told(this.service.testStoredConnection({ path: { ...path, systemResourceId: resourceId } }));
      const found = status === TEST_PASSED ? ` (${tools.length} tools)` : ` (${details ?? ''})`;
      tested.push({ system: name, status, message: `${message}${found}` });
    }
    return tested;
  }

  /** Commits a version, unless it holds another package than the one with this checksum. */
  async commit(
    version: DeliveryVersion,
    message: string | undefined,
    checksum: string,
  ): Promise<PackageProblem[]> {
    const body = message === undefined ? {} : { message };
    const headers = { 'If-Match': `"${checksum}"` };
    return (await told(this.service.commitVersion({ path: pathOf(version), body, headers }))).warnings;
  }

  async build(version: DeliveryVersion): Promise<{ buildId: string; warnings: PackageProblem[] }> {
    return told(this.service.createBuild({ path: pathOf(version) }));
  }

  async agents({ appId }: DeliveryVersion, buildId: string): Promise<PreflightResponse> {
    return told(this.service.preflightBuild({ path: { appId, buildId } }));
  }

  /** @returns the entity tag of the active build, for {@link activate}; null when none is active */
  async activeTag({ appId }: DeliveryVersion): Promise<string | null> {
    const active = await unlessMissing(answered(this.service.getActiveBuild({ path: { appId } })));
    return active && active.response.headers.get('ETag');
  }

  /**
   * Makes a build the active one. Where the deployment asks for `If-Match`, only in the place of the one that was active before.
   * @param before tag of that one; null when none was
   * @throws DeliveryError also when another build was activated meanwhile
   */
  async activate({ appId }: DeliveryVersion, buildId: string, before: string | null): Promise<void> {
    const order = { path: { appId }, body: { buildId } };
    try {
      await told(this.service.activateBuild(order));
    } catch (error) {
      if (refusalIn(error)?.status !== PRECONDITION_REQUIRED) {
        throw error;
      }
      if (before === null) {
        throw activatedMeanwhile(buildId, error);
      }
      await told(this.service.activateBuild({ ...order, headers: { 'If-Match': before } })).catch(
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
    const stored = await unlessMissing(told(this.service.getPackage({ path: pathOf(version) })));
    if (stored === null || canonicalJson(stored) !== canonicalJson(document)) {
      throw new DeliveryError(
        `${refusal.message} Its package is not that of the folder: deliver into another version, or, if only --library or ` +
          '--base-url differ, give them as they were.',
      );
    }
  }
}

/** The body of an answer. @throws DeliveryError in place of every other error */
async function told<Body>(answer: Promise<{ data: Body }>): Promise<Body> {
  return (await answered(answer)).data;
}

/** An answer with JSON in it. @throws DeliveryError in place of every other error */
async function answered<Answer extends { data: unknown }>(answer: Promise<Answer>): Promise<Answer> {
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

/** An answer; null for 404. */
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
    `Build ${buildId} is made but not activated, since another build was activated meanwhile: look at that one, and run the same ` +
      'command again, which makes another build.',
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
