import { canonicalJson } from '../common/canonical-json.js';
import { isJsonObject, type JsonObject } from '../common/json.js';
import { VersionCommittedError } from '../modules/apps/apps.errors.js';
import type { PackageProblem } from '../modules/packages/model/package.types.js';

/** Thrown when the service refuses a step of a delivery; `problems` are those of the package, if it is that. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  constructor(
    message: string,
    readonly problems: PackageProblem[] = [],
    /** Status and message of the answer, where there was one. */
    readonly answer: { status: number; message: unknown } | null = null,
  ) {
    super(message);
  }
}

/** What became of a package. */
export interface StoredDelivery {
  state: 'stored' | 'unchanged';
  /** The version was committed before, with this package in it. */
  isCommitted: boolean;
  warnings: PackageProblem[];
}

/** Where to deliver to, and as whom. */
export interface DeliveryTarget {
  /** Base address of the deployment, without the API's prefix. */
  url: string;
  token: string;
  timeoutMs: number;
}

/** What is delivered. */
export interface DeliveryVersion {
  appId: string;
  versionId: string;
}

/** Whether the agents of a build can run, as its preflight says. */
export interface AgentReadiness {
  ready: boolean;
  nodes: {
    /** Application that the node is of: a library, where it is not that of the build. */
    appId: string;
    workflow: string;
    nodeName: string;
    /** Why the node cannot run; null when it can. */
    reason: string | null;
    /** `reason` says why the system cannot be used; null when it can. */
    systems: { appId: string; resourceName: string; reason: string | null }[];
  }[];
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Delivers application packages to a running service. */
export class DeliveryClient {
  private readonly base: string;

  /** @throws DeliveryError when the address cannot be trusted with a token */
  constructor(private readonly target: DeliveryTarget) {
    const url = URL.canParse(target.url) ? new URL(target.url) : null;
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw new DeliveryError('--url must be an http or https address.');
    }
    if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
      throw new DeliveryError('A token is sent by https only, unless the service is on this machine.');
    }
    this.base = `${url.href.replace(/\/+$/, '')}/appmanager/api/resource/app`;
  }

  /**
   * Stores a package; a version that is committed with the same package in it is left as it is.
   * @returns what became of it, and what was not quite right with it
   * @throws DeliveryError also when the version is committed and its package is another
   */
  async store(version: DeliveryVersion, document: JsonObject): Promise<StoredDelivery> {
    const path = `${pathOf(version)}/package`;
    try {
      const { changed, warnings } = await this.call('PUT', path, document);
      const state = changed === true ? 'stored' : 'unchanged';
      return { state, isCommitted: false, warnings: problemsOf(warnings) };
    } catch (error) {
      if (!isCommittedVersion(error)) {
        throw error;
      }
      await this.requireSame(path, document, error);
      return { state: 'unchanged', isCommitted: true, warnings: [] };
    }
  }

  /** @returns what should be known of the version */
  async commit(version: DeliveryVersion, message: string | undefined): Promise<PackageProblem[]> {
    const { warnings } = await this.call(
      'POST',
      `${pathOf(version)}/commit`,
      message === undefined ? {} : { message },
    );
    return problemsOf(warnings);
  }

  /** @returns the id of the build, and what should be known of it */
  async build(version: DeliveryVersion): Promise<{ buildId: string; warnings: PackageProblem[] }> {
    const { buildId, warnings } = await this.call('POST', `${pathOf(version)}/build`, {});
    return { buildId: String(buildId), warnings: problemsOf(warnings) };
  }

  /** Asks whether the agents of a build can run. */
  async agents({ appId }: DeliveryVersion, buildId: string): Promise<AgentReadiness> {
    const path = `/${encodeURIComponent(appId)}/build/${encodeURIComponent(buildId)}/agent-preflight`;
    const { ready, nodes } = await this.call('GET', path);
    return { ready: ready === true, nodes: objectsOf(nodes).map(toNode) };
  }

  async activate({ appId }: DeliveryVersion, buildId: string): Promise<void> {
    await this.call('PUT', `/${encodeURIComponent(appId)}/active-build`, { buildId });
  }

  private async requireSame(path: string, document: JsonObject, refusal: DeliveryError): Promise<void> {
    const stored = await this.call('GET', path).catch((error: unknown) => {
      if (error instanceof DeliveryError && error.answer?.status === 404) {
        return null;
      }
      throw error;
    });
    if (stored === null || canonicalJson(stored) !== canonicalJson(document)) {
      throw new DeliveryError(
        `${refusal.message} Its package is not that of the folder: deliver into another version, or, if only --library or ` +
          '--base-url differ, give them as they were.',
      );
    }
  }

  private async call(method: string, path: string, body?: JsonObject): Promise<JsonObject> {
    const answer = await this.send(method, path, body);
    const content: unknown = await answer.json().catch(() => null);
    const fields = isJsonObject(content) ? content : {};
    if (!answer.ok) {
      const { message, details, problems } = fields;
      const told = problemsOf(problems);
      const why = told.length === 0 && typeof details === 'string' ? ` (${details})` : '';
      throw new DeliveryError(
        `${answer.status}: ${typeof message === 'string' ? message : 'The service did not say why.'}${why}`,
        told,
        { status: answer.status, message },
      );
    }
    return fields;
  }

  private async send(method: string, path: string, body?: JsonObject): Promise<Response> {
    try {
      return await fetch(this.base + path, {
        method,
        // A redirect would take the token to somebody else.
        redirect: 'error',
        headers: { authorization: `Bearer ${this.target.token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(this.target.timeoutMs),
      });
    } catch (error) {
      const cause = (error as { cause?: { code?: unknown } }).cause?.code;
      const code = typeof cause === 'string' ? ` (${cause})` : '';
      throw new DeliveryError(`No answer from ${new URL(this.base).origin}${code}.`);
    }
  }
}

function isCommittedVersion(error: unknown): error is DeliveryError {
  return (
    error instanceof DeliveryError &&
    error.answer?.status === 409 &&
    error.answer.message === new VersionCommittedError().message
  );
}

function pathOf({ appId, versionId }: DeliveryVersion): string {
  return `/${encodeURIComponent(appId)}/app-version/${encodeURIComponent(versionId)}`;
}

function toNode(node: JsonObject): AgentReadiness['nodes'][number] {
  const systems = objectsOf(node['systems']).map((system) => ({
    appId: String(system['appId']),
    resourceName: String(system['resourceName']),
    reason: textOf(system['reason']),
  }));
  const { appId, workflow, nodeName, reason } = node;
  return {
    appId: String(appId),
    workflow: String(workflow),
    nodeName: String(nodeName),
    reason: textOf(reason),
    systems,
  };
}

function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function problemsOf(value: unknown): PackageProblem[] {
  return Array.isArray(value) ? value.filter(isProblem) : [];
}

function isProblem(value: unknown): value is PackageProblem {
  return isJsonObject(value) && typeof value['file'] === 'string' && typeof value['message'] === 'string';
}
