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

/** What the command line asks for. */
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

/** How far a delivery came. */
export interface Delivered {
  appId: string;
  versionId: string;
  package: 'stored' | 'unchanged' | null;
  committed: boolean;
  buildId: string | null;
  active: boolean;
  /** Warnings, and what was wrong where it came no further. */
  problems: PackageProblem[];
  connections?: TestedSystem[];
}

/** What a delivery needs of its surroundings. */
export interface DeliverSurroundings {
  print: (line: string) => void;
  printError: (line: string) => void;
  pathOf: (folder: string) => string;
  /** Is told what takes long. */
  tellProgress: (line: string) => void;
  /** What is delivered in the place of what the folder holds now. */
  content?: ReadFolder | undefined;
  whenBuilt: (buildId: string) => Promise<void>;
}

/**
 * Delivers a folder: stores it in a version, commits the version, makes a build, activates it; as far as is asked for.
 * @param delivered is told how far it came
 * @returns the status of the process: 0, or 1 when something is wrong
 */
export async function deliverOrder(
  order: Order,
  surroundings: DeliverSurroundings,
  delivered: Delivered,
): Promise<number> {
  return new DeliveryRun(order, surroundings, delivered).run();
}

/** A delivery that has not begun. */
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
    this.tell(problems);
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
      this.tell(error.problems);
      printError(error.message);
      return 1;
    }
  }

  private tell(found: PackageProblem[]): void {
    this.delivered.problems.push(...found);
    found.forEach((problem) => this.surroundings.print(problemLine(problem)));
  }

  private async deliver(document: JsonObject): Promise<void> {
    const { order, delivered } = this;
    const { print } = this.surroundings;
    const client = new DeliveryClient(order);
    const { state, isCommitted, checksum, warnings } = await client.store(order, document);
    delivered.package = state;
    this.tell(warnings);
    print(`package ${order.appId} ${order.versionId} ${state}`);
    if (order.testConnections) {
      await this.testConnections(client);
    }
    if (order.commit && checksum !== undefined) {
      this.tell(await client.commit(order, order.message, checksum));
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
    // Before the build, and so before anybody looks at it: what is activated while he does is not overwritten unseen.
    const before = order.activate ? await client.activeTag(order) : null;
    const { buildId, warnings } = await client.build(order);
    delivered.buildId = buildId;
    this.tell(warnings);
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
    const { print, tellProgress } = this.surroundings;
    const tested = await client.testConnections(this.order, tellProgress);
    this.delivered.connections = tested;
    tested.map(connectionLine).forEach((line) => print(line));
    if (tested.some(({ status }) => status !== TEST_PASSED)) {
      throw new DeliveryError(
        'The package is stored, and nothing else is done: a connection test has failed.',
      );
    }
  }

  /** @throws DeliveryError when an agent of the build cannot run, unless that is what is wanted */
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
 * The document with what the command line says otherwise.
 * @throws DeliveryError when it names a system that is not there
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
    ? ' Where an agent of a library needs another build of the library, name that by --library, in another version.'
    : '';
  return (
    `Build ${buildId} is made but not activated, since agents of it cannot run: test the connections of their systems, ` +
    `enable their tools, and run the same command again, which makes another build. With --force it activates that all the same.${ofLibrary}`
  );
}
