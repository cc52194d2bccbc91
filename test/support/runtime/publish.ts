import { In } from 'typeorm';
import { BuildEntity } from '../../../src/delivery/builds/storage/build.entity.js';
import type { TestApp, TestResponse } from '../app.js';
import { uniqueName } from '../factories.js';

/** A build of another application. */
export interface LibraryRef {
  appId: string;
  buildId: string;
}

/** Package to deliver: BPMN files, or parts of a package document. */
export interface Publication {
  /** @default a new application */
  appId?: string;
  /** @default a new version */
  versionId?: string;
  /** One file, or several. */
  bpmn?: string | string[];
  package?: Record<string, unknown>;
  libraries?: LibraryRef[];
  /** Leaves the build as never activated: only users who may deliver the application can start its processes. */
  neverActive?: boolean;
  /** Makes the build the active one. */
  activate?: boolean;
}

/** Ids of a delivered build. */
export interface Published {
  appId: string;
  versionId: string;
  buildId: string;
}

/** Path prefix of an application. */
export function appPath(appId: string): string {
  return `/appmanager/api/resource/app/${appId}`;
}

/** Path prefix of an application version. */
export function deliveryPath(appId: string, versionId: string): string {
  return `${appPath(appId)}/app-version/${versionId}`;
}

/** Returns a package as one document. */
export function packageDocument(
  appId: string,
  { bpmn = [], package: own = {}, libraries }: Omit<Publication, 'appId'> = {},
): Record<string, unknown> {
  const files = typeof bpmn === 'string' ? [bpmn] : bpmn;
  const processes = files.map((text, index) => ({ file: `processes/process-${index}.bpmn`, bpmn: text }));
  return {
    application: {
      formatVersion: 1,
      appId,
      name: appId,
      ...(libraries === undefined ? {} : { libraries }),
    },
    ...(processes.length === 0 ? {} : { processes }),
    ...own,
  };
}

/** Allows an application to use all builds of libraries, as if their packages had allowed it. */
export async function allowLibraries(
  app: TestApp,
  userAppId: string,
  libraries: readonly Pick<LibraryRef, 'appId'>[] = [],
): Promise<void> {
  const repository = app.dataSource.getRepository(BuildEntity);
  const builds = await repository.findBy({ appId: In(libraries.map(({ appId }) => appId)) });
  for (const { buildId, usableBy } of builds) {
    const users = new Set([...(JSON.parse(usableBy ?? '[]') as string[]), userAppId]);
    await repository.update({ buildId }, { usableBy: JSON.stringify([...users]) });
  }
}

/** Stores a package, commits its version and creates a build. Throws if a request fails. */
export async function publish(app: TestApp, publication: Publication): Promise<Published> {
  const {
    appId = uniqueName('app'),
    versionId = uniqueName('v'),
    activate = false,
    neverActive = false,
  } = publication;
  const path = deliveryPath(appId, versionId);
  await allowLibraries(app, appId, publication.libraries);
  expectOk(await app.request('PUT', `${path}/package`, { body: packageDocument(appId, publication) }));
  expectOk(await app.request('POST', `${path}/commit`));
  const built = await app.request<{ buildId: string }>('POST', `${path}/build`);
  expectOk(built);
  const { buildId } = built.body;
  if (!neverActive) {
    // Mark the build as previously active: everyone may start its processes, but timers and messages do not.
    await app.dataSource.getRepository(BuildEntity).update({ buildId }, { activatedAt: new Date() });
  }
  if (activate) {
    expectOk(await app.request('PUT', `${appPath(appId)}/active-build`, { body: { buildId } }));
  }
  return { appId, versionId, buildId };
}

function expectOk({ status, text }: Pick<TestResponse, 'status' | 'text'>): void {
  if (status >= 300) {
    throw new Error(`${status} ${text}`);
  }
}

type Members = Record<string, unknown>;

/** Returns a workflow: START, these nodes in sequence, END. */
export function workflowOf(name: string, nodes: Members[] = [], members: Members = {}): Members {
  const all: Members[] = [
    { id: 'start', type: 'START' },
    ...nodes,
    { id: 'end', type: 'END', ...(members['end'] as Members) },
  ];
  return {
    name,
    ...Object.fromEntries(Object.entries(members).filter(([member]) => member !== 'end')),
    nodes: all.map((node, index) => {
      const id = String(node['id']);
      const target = all[index + 1]?.['id'] as string | undefined;
      const sequences = target === undefined ? [] : [sequence(id, target)];
      return { name: id, outgoingSequences: sequences, ...node };
    }),
  };
}

/** Returns an outgoing sequence. */
export function sequence(sourceNodeId: string, targetNodeId: string): Members {
  return { id: `${sourceNodeId}-${targetNodeId}`, sourceNodeId, targetNodeId };
}

/** Returns a DATA_MAPPING node that stores `body` under `responseKey`. */
export function mapping(id: string, body: unknown, responseKey: string | null = id): Members {
  return { id, type: 'DATA_MAPPING', inputBody: JSON.stringify(body), responseKey };
}

/** Returns a SUBWORKFLOW node that runs another workflow. */
export function calling(id: string, resourceName: string, appId?: string, members: Members = {}): Members {
  const workflow = appId === undefined ? { resourceName } : { resourceName, appId };
  return { id, type: 'SUBWORKFLOW', payload: { workflow }, responseKey: id, ...members };
}
