import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pagesOf, type SvcClient } from '../index.js';

import { withDetails } from './expectation.js';
import { TestInstance, type TestContext } from './instance.js';
import { isObject } from './json.js';
import { McpStub } from './mcp-stub.js';
import type { RestStub } from './rest-stub.js';
import { baseEnv } from './service-process.js';

/** Options for the delivery of a folder. */
export interface DeliverOptions {
  /** Stubs for systems of the package, by `resourceName`. Systems without a stub are unreachable. */
  systems?: Record<string, RestStub | McpStub>;
  /** Delivered applications to use as libraries. */
  libraries?: readonly TestApplication[];
}

/** Service to deliver to. */
export interface DeliveryContext extends TestContext {
  /** Folder of the built service, for its command line. */
  home: string;
  url: string;
  token: () => Promise<string>;
}

/** Address at which nothing listens. */
const UNREACHABLE = 'http://127.0.0.1:1';
const PARTS = ['application.json', 'systems', 'workflows', 'processes'];
const SYSTEMS = 'systems';
/** Required header of a start. */
const PLATFORM = { 'svc-platform': 'test' };
const HTTP_OK = 200;

let versions = 0;

/** Delivered and activated application. */
export class TestApplication {
  private constructor(
    private readonly context: TestContext,
    readonly appId: string,
    readonly buildId: string,
  ) {}

  /**
   * Delivers a folder as `svc deliver` does.
   * @throws Error with all problems, as `svc deliver` prints them
   */
  static async deliver(
    context: DeliveryContext,
    folder: string,
    { systems = {}, libraries = [] }: DeliverOptions,
  ): Promise<TestApplication> {
    versions += 1;
    const versionId = `test-${versions}`;
    const copy = await copyOf(resolve(folder), systems);
    try {
      const named = libraries.flatMap(({ appId, buildId }) => ['--library', `${appId}=${buildId}`]);
      const appId = await store(context, [copy, '--version', versionId, ...named]);
      const path = { appId, versionId };
      await testConnections(context.client, path, systems);
      await context.client.commitVersion({ path, body: {} });
      const { data: build } = await context.client.createBuild({ path });
      await context.client.activateBuild({ path: { appId }, body: { buildId: build.buildId } });
      return new TestApplication(context, appId, build.buildId);
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  }

  /**
   * Starts a process and waits until it rests.
   * @param process name of the process
   * @param options.startCondition start event, if there are several
   * @throws ServiceError
   */
  async start(
    process: string,
    data: Record<string, unknown> = {},
    { startCondition }: { startCondition?: string } = {},
  ): Promise<TestInstance> {
    const { data: started } = await withDetails(
      this.context.client.startProcess({
        path: { appId: this.appId, buildId: this.buildId, processDefinitionName: process },
        headers: PLATFORM,
        body: { ...data, ...(startCondition === undefined ? {} : { startCondition }) },
      }),
    );
    await this.context.settle();
    return new TestInstance(this.context, started.uuid);
  }

  /**
   * Lists all instances of a process, newest first, including those started by messages, timers or calls.
   * @param process name of the process
   */
  async instances(process: string): Promise<TestInstance[]> {
    const { client, settle } = this.context;
    await settle();
    const query = { applicationId: this.appId, processDefinitionName: process };
    const uuids: string[] = [];
    for await (const page of pagesOf((cursor) =>
      client.listProcessInstances({ query: { ...query, ...cursor } }),
    )) {
      uuids.push(...page.instances.map(({ uuid }) => uuid));
    }
    return uuids.map((uuid) => new TestInstance(this.context, uuid));
  }
}

/** Copies a package and replaces the addresses of its systems by stubs or an unreachable address. */
async function copyOf(folder: string, stubs: Record<string, RestStub | McpStub>): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'svc-package-'));
  const left = new Set(Object.keys(stubs));
  for (const part of await readdir(folder)) {
    if (PARTS.includes(part)) {
      await cp(join(folder, part), join(copy, part), { recursive: true });
    }
  }
  for (const file of await readdir(join(copy, SYSTEMS)).catch(() => [])) {
    left.delete(await stubSystem(join(copy, SYSTEMS, file), stubs));
  }
  if (left.size > 0) {
    await rm(copy, { recursive: true, force: true });
    throw new Error(`${folder} has no system ${[...left].join(', ')}.`);
  }
  return copy;
}

/** Replaces the address of a system. @returns the name of the system */
async function stubSystem(file: string, stubs: Record<string, RestStub | McpStub>): Promise<string> {
  const system: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!isObject(system) || system['baseUrl'] === undefined) {
    return isObject(system) ? String(system['resourceName']) : '';
  }
  const name = String(system['resourceName']);
  const { tls: _, ...rest } = system;
  const baseUrl = stubs[name]?.url ?? UNREACHABLE;
  await writeFile(file, JSON.stringify({ ...rest, baseUrl, authorization: { type: 'NO_AUTH' } }));
  return name;
}

/** Stores a package with `svc deliver`. @returns the application id */
async function store({ home, url, token }: DeliveryContext, args: string[]): Promise<string> {
  const command = [
    join(home, 'dist/packages/client/src/command-line/svc.cli.js'),
    '--json',
    'deliver',
    ...args,
  ];
  const env = { ...baseEnv(), SVC_URL: url, SVC_TOKEN: await token() };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, command, { env }, (error, output, errors) => {
      const { appId, problems = [] } = outcomeOf(output);
      if (error === null && appId !== undefined) {
        resolve(appId);
        return;
      }
      const lines = problems.map(({ file, element, message }) =>
        [file, element, message].filter((part) => part).join(': '),
      );
      reject(new Error(['The package was rejected.', ...lines, errors.trim()].join('\n')));
    });
  });
}

interface Outcome {
  appId?: string;
  problems?: { file: string | null; element: string | null; message: string }[];
}

function outcomeOf(output: string): Outcome {
  try {
    return JSON.parse(output) as Outcome;
  } catch {
    return {};
  }
}

/** Tests the connections to MCP stubs, so that the service loads their tools. */
async function testConnections(
  client: SvcClient,
  path: { appId: string; versionId: string },
  systems: Record<string, RestStub | McpStub>,
): Promise<void> {
  for (const [name, stub] of Object.entries(systems)) {
    if (stub instanceof McpStub) {
      const body = { baseUrl: stub.url, authorization: { type: 'NO_AUTH' as const } };
      const { data } = await client.testMcpConnection({ path, body });
      if (data.status !== HTTP_OK) {
        throw new Error(`The stub of ${name} cannot be used: ${data.message} ${data.details ?? ''}`);
      }
    }
  }
}
