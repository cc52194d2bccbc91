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
export interface Order {
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
export interface DeliverSurroundings {
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
export async function deliverOrder(
  order: Order,
  surroundings: DeliverSurroundings,
  delivered: Delivered,
): Promise<number> {
  return new DeliveryRun(order, surroundings, delivered).run();
}

/** Returns the state of a delivery before it starts. */
export function notDelivered({ appId, versionId }: Order): Delivered {
  return { appId, versionId, package: null, committed: false, buildId: null, active: false, problems: [] };
}

class DeliveryRun {
  constructor(
    private readonly order: Order,
    private readonly surroundings: DeliverSurroundings,
    private readonly delivered: Delivered,
  ) {}

  async run(): Promise<number> {
    const { content, pathOf, printError } = this.surroundings;
    const { document, problems } = content ?? (await readPackageFolder(pathOf(this.order.folder)));
    this.report(problems);
    if (document === null) {
      return 1;
    }
    try {
      await this.deliver(ordered(document, this.order));
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
    found.forEach((problem) => this.surroundings.print(problemLine(problem)));
  }

  private async deliver(document: JsonObject): Promise<void> {
    const { order, delivered } = this;
    const { print } = this.surroundings;
    const client = new DeliveryClient(order);
    const { state, isCommitted, checksum, warnings } = await client.store(order, document);
    delivered.package = state;
    this.report(warnings);
    print(`package ${order.appId} ${order.versionId} ${state}`);
    if (order.testConnections) {
      await this.testConnections(client);
    }
    if (order.commit && checksum !== undefined) {
      this.report(await client.commit(order, order.message, checksum));
    }
    if (order.commit || isCommitted) {
      delivered.committed = true;
      print(`version ${order.versionId} ${isCommitted ? 'was committed before' : 'committed'}`);
    }
    if (order.build) {
      await this.build(client);
    }
  }

  private async build(client: DeliveryClient): Promise<void> {
    const { order, delivered } = this;
    const { print, whenBuilt } = this.surroundings;
    // Read before the build, so that a build activated in the meantime is not replaced unnoticed.
    const before = order.activate ? await client.activeTag(order) : null;
    const { buildId, warnings } = await client.build(order);
    delivered.buildId = buildId;
    this.report(warnings);
    print(`build ${buildId}`);
    await whenBuilt(buildId);
    if (order.activate) {
      await this.requireAgents(client, buildId);
      await client.activate(order, buildId, before);
      print(`active build ${buildId}`);
      delivered.active = true;
    }
  }

  /** @throws DeliveryError when a test fails */
  private async testConnections(client: DeliveryClient): Promise<void> {
    const { print, onProgress } = this.surroundings;
    const tested = await client.testConnections(this.order, onProgress);
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
    const { order, surroundings } = this;
    const agents = order.force ? undefined : await client.agents(order, buildId);
    if (agents !== undefined && !agents.ready) {
      agentLines(agents, order.appId).forEach((line) => surroundings.print(line));
      throw new DeliveryError(refusalOf(order, buildId, agents));
    }
  }
}

/**
 * Applies --library and --base-url to the document.
 * @throws DeliveryError when --base-url names an unknown system
 */
function ordered(document: JsonObject, { libraries, baseUrls }: Order): JsonObject {
  const known = withLibraryBuilds(document, libraries);
  const { document: moved, unknown, names } = withBaseUrls(known, baseUrls);
  if (unknown.length > 0) {
    const hints = unknown.map((name) => didYouMean(name, names)).join('');
    throw new DeliveryError(`--base-url: there is no system ${unknown.join(', ')} in the package.${hints}`);
  }
  return moved;
}

function refusalOf({ appId }: Order, buildId: string, { nodes }: PreflightResponse): string {
  const isOfLibrary = nodes.some((node) => node.appId !== appId && node.reason !== null);
  const ofLibrary = isOfLibrary
    ? ' If an agent of a library needs another build of the library, set it with --library in a new version.'
    : '';
  return (
    `Build ${buildId} was made but not activated, because some of its agents cannot run. Test the connections of their systems, ` +
    `enable their tools, and run the command again to make another build. --force activates it anyway.${ofLibrary}`
  );
}
