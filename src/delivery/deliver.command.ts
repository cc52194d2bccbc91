import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { PackageProblem, PreflightResponse } from '../../clients/typescript/src/index.js';
import type { JsonObject } from '../common/json.js';
import { didYouMean } from '../common/nearest-name.js';
import type { Env } from '../config/env.js';
import { readPackageFolder, type ReadFolder } from '../modules/packages/reading/package-folder.js';
import { withBaseUrls, withLibraryBuilds } from '../modules/packages/reading/delivered-document.js';
import { agentLines, connectionLine, problemLine } from './delivery-lines.js';
import { DeliveryClient, DeliveryError, TEST_PASSED, type TestedSystem } from './delivery.client.js';

export const DELIVER_USAGE = `usage: npm run -s deliver -- FOLDER --app APP --version VERSION [--test-connections] [--commit [--message TEXT]]
         [--build [--activate [--force]]] [--library APP=BUILD]... [--base-url SYSTEM=URL]... [--url URL] [--token TOKEN] [--timeout SECONDS]
Without --token it is SVC_TOKEN; without both, and without --url, it is the evaluation server of this machine.`;

const USAGE_ERROR = 2;

const options = {
  app: { type: 'string' },
  version: { type: 'string' },
  'test-connections': { type: 'boolean', default: false },
  commit: { type: 'boolean', default: false },
  message: { type: 'string' },
  build: { type: 'boolean', default: false },
  activate: { type: 'boolean', default: false },
  force: { type: 'boolean', default: false },
  library: { type: 'string', multiple: true, default: [] as string[] },
  'base-url': { type: 'string', multiple: true, default: [] as string[] },
  url: { type: 'string' },
  token: { type: 'string' },
  timeout: { type: 'string', default: '120' },
} as const satisfies ParseArgsConfig['options'];

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
  url: string | undefined;
  token: string | undefined;
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

/** What the command needs of its surroundings. */
export interface DeliverSurroundings {
  env: Env;
  print: (line: string) => void;
  printError: (line: string) => void;
  pathOf: (folder: string) => string;
  evaluation: () => Promise<{ url: string; token: string }>;
  /** Is told what takes long; the standard error where it is left out. */
  tellProgress?: (line: string) => void;
  /** What is delivered in the place of what the folder holds now. */
  content?: ReadFolder;
  whenBuilt?: (buildId: string) => Promise<void>;
}

/**
 * Delivers a folder: stores it in a version, commits the version, makes a build, activates it; as far as is asked for.
 * @returns the status of the process: 0, 1 when something is wrong, 2 when the command line is
 */
export async function deliver(args: string[], surroundings: DeliverSurroundings): Promise<number> {
  const order = orderFrom(args);
  if (typeof order === 'string') {
    surroundings.printError(`${order}\n${DELIVER_USAGE}`);
    return USAGE_ERROR;
  }
  return deliverOrder(order, surroundings);
}

/** As {@link deliver}, for a command line that is read. @returns 0, or 1 when something is wrong */
export async function deliverOrder(
  order: Order,
  surroundings: DeliverSurroundings,
  delivered: Delivered = notDelivered(order),
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
    const client = new DeliveryClient({
      ...(await targetOf(order, this.surroundings)),
      timeoutMs: order.timeoutMs,
    });
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
    await whenBuilt?.(buildId);
    if (order.activate) {
      await this.requireAgents(client, buildId);
      await client.activate(order, buildId, before);
      print(`active build ${buildId}`);
      delivered.active = true;
    }
  }

  /** @throws DeliveryError when a test fails */
  private async testConnections(client: DeliveryClient): Promise<void> {
    const { print, printError, tellProgress = printError } = this.surroundings;
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

async function targetOf(
  { url, token }: Order,
  { env, evaluation }: DeliverSurroundings,
): Promise<{ url: string; token: string }> {
  const given = token ?? env.variable('SVC_TOKEN');
  if (given === undefined && url !== undefined) {
    throw new DeliveryError('With --url a token is needed: SVC_TOKEN or --token.');
  }
  if (given !== undefined && url === undefined) {
    throw new DeliveryError('With a token --url is needed.');
  }
  return given === undefined || url === undefined ? evaluation() : { url, token: given };
}

function orderFrom(args: string[]): Order | string {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const { app: appId, version: versionId, library, timeout, ...rest } = values;
    const [folder] = positionals;
    if (folder === undefined || positionals.length > 1 || appId === undefined || versionId === undefined) {
      return 'one FOLDER, --app and --version are needed';
    }
    const misplaced = misplacedFlag(rest);
    if (misplaced !== null) {
      return misplaced;
    }
    if (!/^[1-9]\d{0,4}$/.test(timeout)) {
      return '--timeout must be a whole number of seconds';
    }
    const libraries = new Map(library.map((text) => pairOf(text, '--library must be APP=BUILD')));
    const addresses = rest['base-url'].map((text) => pairOf(text, '--base-url must be SYSTEM=URL'));
    const { commit, build, activate: active, force, message, url, token } = rest;
    const timeoutMs = Number(timeout) * 1_000;
    const delivery = { folder, appId, versionId, libraries, baseUrls: new Map(addresses), timeoutMs };
    const testConnections = rest['test-connections'];
    return { ...delivery, testConnections, commit, build, activate: active, force, message, url, token };
  } catch (error) {
    return error instanceof Error ? error.message : 'wrong arguments';
  }
}

function misplacedFlag({
  build,
  activate: active,
  force,
}: Pick<Order, 'build' | 'activate' | 'force'>): string | null {
  if (active && !build) {
    return '--activate needs --build';
  }
  return force && !active ? '--force needs --activate' : null;
}

/** A name and what stands behind its first equals sign. @throws Error with this message where there is none */
export function pairOf(text: string, otherwise: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new Error(otherwise);
  }
  return [name, value];
}
