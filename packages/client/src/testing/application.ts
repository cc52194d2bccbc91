import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pagesOf, type SvcClient } from '../index.js';

import { explained } from './expectation.js';
import { TestInstance, type Surroundings } from './instance.js';
import { isObject } from './json.js';
import { McpStub } from './mcp-stub.js';
import type { RestStub } from './rest-stub.js';
import { surroundings } from './service-process.js';

/** How to deliver a folder. */
export interface DeliverOptions {
  /** What stands in for the systems of the package, by `resourceName`. A system without a stub is not there: its calls fail. */
  systems?: Record<string, RestStub | McpStub>;
  /** Delivered applications whose builds the package names as libraries. */
  libraries?: readonly TestApplication[];
}

/** Which service, and from where its command line comes. */
export interface DeliverySurroundings extends Surroundings {
  home: string;
  url: string;
  token: () => Promise<string>;
}

/** Nobody listens there. */
const NOBODY = 'http://127.0.0.1:1';
const PARTS = ['application.json', 'systems', 'workflows', 'processes'];
const SYSTEMS = 'systems';
/** Where the platform of a start is stored. */
const PLATFORM = { 'svc-platform': 'test' };
const HTTP_OK = 200;

let versions = 0;

/** An application that was delivered, committed, built and activated. */
export class TestApplication {
  private constructor(
    private readonly surroundings: Surroundings,
    readonly appId: string,
    readonly buildId: string,
  ) {}

  /**
   * Delivers a folder as `svc deliver` does.
   * @throws Error with all problems, as `svc deliver` prints them
   */
  static async deliver(
    around: DeliverySurroundings,
    folder: string,
    { systems = {}, libraries = [] }: DeliverOptions,
  ): Promise<TestApplication> {
    versions += 1;
    const versionId = `test-${versions}`;
    const copy = await copyOf(resolve(folder), systems);
    try {
      const named = libraries.flatMap(({ appId, buildId }) => ['--library', `${appId}=${buildId}`]);
      const appId = await store(around, [copy, '--version', versionId, ...named]);
      const path = { appId, versionId };
      await testConnections(around.client, path, systems);
      await around.client.commitVersion({ path, body: {} });
      const { data: build } = await around.client.createBuild({ path });
      await around.client.activateBuild({ path: { appId }, body: { buildId: build.buildId } });
      return new TestApplication(around, appId, build.buildId);
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  }

  /**
   * Starts a process, and waits for what it does by itself.
   * @param process its name
   * @param options.startCondition which start event, where there are several
   * @throws ServiceError
   */
  async start(
    process: string,
    data: Record<string, unknown> = {},
    { startCondition }: { startCondition?: string } = {},
  ): Promise<TestInstance> {
    const { data: started } = await explained(
      this.surroundings.client.startProcess({
        path: { appId: this.appId, buildId: this.buildId, processDefinitionName: process },
        headers: PLATFORM,
        body: { ...data, ...(startCondition === undefined ? {} : { startCondition }) },
      }),
    );
    await this.surroundings.settle();
    return new TestInstance(this.surroundings, started.uuid);
  }

  /**
   * The instances of a process, newest first: also those that a message, a timer or a call has started.
   * @param process its name
   */
  async instances(process: string): Promise<TestInstance[]> {
    const { client, settle } = this.surroundings;
    await settle();
    const query = { applicationId: this.appId, processDefinitionName: process };
    const uuids: string[] = [];
    for await (const page of pagesOf((cursor) =>
      client.listProcessInstances({ query: { ...query, ...cursor } }),
    )) {
      uuids.push(...page.instances.map(({ uuid }) => uuid));
    }
    return uuids.map((uuid) => new TestInstance(this.surroundings, uuid));
  }
}

/** A copy of a package in which stubs, and nobody, stand in for its systems. */
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
    throw new Error(`There is no system ${[...left].join(', ')} in ${folder}.`);
  }
  return copy;
}

/** @returns the name of the system */
async function stubSystem(file: string, stubs: Record<string, RestStub | McpStub>): Promise<string> {
  const system: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!isObject(system) || system['baseUrl'] === undefined) {
    return isObject(system) ? String(system['resourceName']) : '';
  }
  const name = String(system['resourceName']);
  const { tls: _, ...rest } = system;
  const baseUrl = stubs[name]?.url ?? NOBODY;
  await writeFile(file, JSON.stringify({ ...rest, baseUrl, authorization: { type: 'NO_AUTH' } }));
  return name;
}

/** @returns the application of the package */
async function store({ home, url, token }: DeliverySurroundings, args: string[]): Promise<string> {
  const command = [join(home, 'dist/src/command-line/svc.cli.js'), '--json', 'deliver', ...args];
  const env = { ...surroundings(), SVC_URL: url, SVC_TOKEN: await token() };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, command, { env }, (error, output, errors) => {
      const { appId, problems = [] } = outcomeOf(output);
      if (error === null && appId !== undefined) {
        resolve(appId);
        return;
      }
      const told = problems.map(({ file, element, message }) =>
        [file, element, message].filter((part) => part).join(': '),
      );
      reject(new Error(['The package is refused.', ...told, errors.trim()].join('\n')));
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

/** Lets the service learn the tools of the stubs. */
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
