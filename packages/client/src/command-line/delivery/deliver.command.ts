import type { PackageProblem, PreflightResponse } from '../../index.js';
import type { JsonObject } from '#engine/json';
import { didYouMean } from '#engine/support';
import {
  readPackageFolder,
  type ReadFolder,
} from '../../../../../src/delivery/packages/reading/package-folder.js';
import {
  withBaseUrls,
  withLibraryBuilds,
} from '../../../../../src/delivery/packages/reading/delivered-document.js';
import { agentLines, connectionLine, problemLine } from './delivery-lines.js';
import { DeliveryClient, DeliveryError, TEST_PASSED, type TestedSystem } from './delivery.client.js';

/** A delivery as requested on the command line. */
export interface DeliveryRequest {
  folder: string;
  appId: string;
  versionId: string;
  testConnections: boolean;
  commit: boolean;
  message: string | undefined;
  build: boolean;
  activate: boolean;
  force: boolean;
  libraries: Map<string, string>;
  baseUrls: Map<string, string>;
  url: string;
  token: string;
  timeoutMs: number;
}

/** Progress and result of a delivery. */
export interface Delivered {
  appId: string;
  versionId: string;
  package: 'stored' | 'unchanged' | null;
  committed: boolean;
  buildId: string | null;
  active: boolean;
  /** Warnings, and the errors that stopped it. */
  problems: PackageProblem[];
  connections?: TestedSystem[];
}

/** Environment of a delivery. */
export interface DeliveryEnvironment {
  print: (line: string) => void;
  printError: (line: string) => void;
  pathOf: (folder: string) => string;
  /** Called before slow steps. */
  onProgress: (line: string) => void;
  /** Content to deliver instead of the current content of the folder. */
  content?: ReadFolder | undefined;
  whenBuilt: (buildId: string) => Promise<void>;
}

/**
 * Delivers a folder: stores it in a version, commits the version, makes a build and activates it, as far as requested.
 * @param delivered is updated with the progress
 * @returns the exit status: 0, or 1 on failure
 */
export async function deliverPackage(
  request: DeliveryRequest,
  environment: DeliveryEnvironment,
  delivered: Delivered,
): Promise<number> {
  return new DeliveryRun(request, environment, delivered).run();
}

/** Returns the state of a delivery before it starts. */
export function initialDelivery({ appId, versionId }: DeliveryRequest): Delivered {
  return { appId, versionId, package: null, committed: false, buildId: null, active: false, problems: [] };
}

class DeliveryRun {
  constructor(
    private readonly request: DeliveryRequest,
    private readonly environment: DeliveryEnvironment,
    private readonly delivered: Delivered,
  ) {}

  async run(): Promise<number> {
    const { content, pathOf, printError } = this.environment;
    const { document, problems } = content ?? (await readPackageFolder(pathOf(this.request.folder)));
    this.report(problems);
    if (document === null) {
      return 1;
    }
    try {
      await this.deliver(withOverrides(document, this.request));
      return 0;
    } catch (error) {
      if (!(error instanceof DeliveryError)) {
        throw error;
      }
      this.report(error.problems);
      printError(error.message);
      return 1;
    }
  }

  private report(found: PackageProblem[]): void {
    this.delivered.problems.push(...found);
    found.forEach((problem) => this.environment.print(problemLine(problem)));
  }

  private async deliver(document: JsonObject): Promise<void> {
    const { request, delivered } = this;
    const { print } = this.environment;
    const client = new DeliveryClient(request);
    const { state, isCommitted, checksum, warnings } = await client.store(request, document);
    delivered.package = state;
    this.report(warnings);
    print(`package ${request.appId} ${request.versionId} ${state}`);
    if (request.testConnections) {
      await this.testConnections(client);
    }
    if (request.commit && checksum !== undefined) {
      this.report(await client.commit(request, request.message, checksum));
    }
    if (request.commit || isCommitted) {
      delivered.committed = true;
      print(`version ${request.versionId} ${isCommitted ? 'was committed before' : 'committed'}`);
    }
    if (request.build) {
      await this.build(client);
    }
  }

  private async build(client: DeliveryClient): Promise<void> {
    const { request, delivered } = this;
    const { print, whenBuilt } = this.environment;
    // Read before the build, so that a build activated in the meantime is not replaced unnoticed.
    const before = request.activate ? await client.activeTag(request) : null;
    const { buildId, warnings } = await client.build(request);
    delivered.buildId = buildId;
    this.report(warnings);
    print(`build ${buildId}`);
    await whenBuilt(buildId);
    if (request.activate) {
      await this.requireAgents(client, buildId);
      await client.activate(request, buildId, before);
      print(`active build ${buildId}`);
      delivered.active = true;
    }
  }

  /** @throws DeliveryError when a test fails */
  private async testConnections(client: DeliveryClient): Promise<void> {
    const { print, onProgress } = this.environment;
    const tested = await client.testConnections(this.request, onProgress);
    this.delivered.connections = tested;
    tested.map(connectionLine).forEach((line) => print(line));
    if (tested.some(({ status }) => status !== TEST_PASSED)) {
      throw new DeliveryError(
        'The package was stored, but a connection test failed, so nothing else was done.',
      );
    }
  }

  /**
   * Checks that the agents of the build can run, unless --force is set.
   * @throws DeliveryError when an agent cannot run
   */
  private async requireAgents(client: DeliveryClient, buildId: string): Promise<void> {
    const { request, environment } = this;
    const agents = request.force ? undefined : await client.agents(request, buildId);
    if (agents !== undefined && !agents.ready) {
      agentLines(agents, request.appId).forEach((line) => environment.print(line));
      throw new DeliveryError(refusalOf(request, buildId, agents));
    }
  }
}

/**
 * Applies --library and --base-url to the document.
 * @throws DeliveryError when --base-url names an unknown system
 */
function withOverrides(document: JsonObject, { libraries, baseUrls }: DeliveryRequest): JsonObject {
  const known = withLibraryBuilds(document, libraries);
  const { document: moved, unknown, names } = withBaseUrls(known, baseUrls);
  if (unknown.length > 0) {
    const hints = unknown.map((name) => didYouMean(name, names)).join('');
    throw new DeliveryError(`--base-url: there is no system ${unknown.join(', ')} in the package.${hints}`);
  }
  return moved;
}

function refusalOf({ appId }: DeliveryRequest, buildId: string, { nodes }: PreflightResponse): string {
  const isOfLibrary = nodes.some((node) => node.appId !== appId && node.reason !== null);
  const ofLibrary = isOfLibrary
    ? ' If an agent of a library needs another build of the library, set it with --library in a new version.'
    : '';
  return (
    `Build ${buildId} was made but not activated, because some of its agents cannot run. Test the connections of their systems, ` +
    `enable their tools, and run the command again to make another build. --force activates it anyway.${ofLibrary}`
  );
}
