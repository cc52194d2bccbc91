import {
  ActiveBuildEntity,
  AppPackageEntity,
  BuildDefinitionEntity,
  BuildEntity,
  BuildToolEntity,
  ProcessNodeEntity,
} from '../../../src/delivery/builds/storage/build.entity.js';
import type { ProcessGraph } from '#engine/definitions';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import type { TestApp, TestResponse } from '../../support/app.js';
import { allowLibraries, appPath, deliveryPath } from '../../support/runtime/publish.js';
import type { Place } from '../systems/rows.js';

/** A problem of a package. */
export interface Problem {
  severity: string;
  code: string;
  file: string;
  element: string | null;
  message: string;
}

/** Response to a delivered package, stored or refused. */
export interface PackageAnswer {
  checksum: string;
  changed: boolean;
  systems: { added: string[]; changed: string[]; removed: string[] };
  warnings: Problem[];
  message?: string;
  details?: string;
  problems?: Problem[];
}

/** The manifest of a build. */
export interface Manifest {
  buildId: string;
  buildStatus: string;
  applicationId: string;
  applicationVersionId: string;
  checksum: string;
  createdDate: string;
  resources: { resourceType: string; name: string; resourceId: string; resourceDefinitionId: string }[];
  libraries: { appId: string; buildId: string; level: number }[];
  /** Only in the response to a new build. */
  warnings?: Problem[];
}

/** Returns a workflow that does nothing. */
export function emptyWorkflow(name: string): Record<string, unknown> {
  const outgoingSequences = [{ id: 'sequence', sourceNodeId: 'start', targetNodeId: 'end' }];
  return {
    name,
    nodes: [
      { id: 'start', type: 'START', name: 'Start', outgoingSequences },
      { id: 'end', type: 'END', name: 'End' },
    ],
  };
}

/** Stores a package, after granting its application the right to use the libraries that it names. */
export async function store(app: TestApp, place: Place, body: unknown): Promise<TestResponse<PackageAnswer>> {
  const { application } = (body ?? {}) as { application?: { libraries?: { appId: string }[] } };
  if (Array.isArray(application?.libraries)) {
    await allowLibraries(app, place.appId, application.libraries);
  }
  return app.request<PackageAnswer>('PUT', `${deliveryPath(place.appId, place.versionId)}/package`, { body });
}

export function commit(app: TestApp, place: Place, body?: unknown): Promise<TestResponse> {
  const path = `${deliveryPath(place.appId, place.versionId)}/commit`;
  return app.request('POST', path, body === undefined ? {} : { body });
}

export function build(app: TestApp, place: Place): Promise<TestResponse<Manifest>> {
  return app.request<Manifest>('POST', `${deliveryPath(place.appId, place.versionId)}/build`);
}

export function activate(
  app: TestApp,
  appId: string,
  buildId: string,
): Promise<TestResponse<{ buildId: string; previousBuildId: string | null; activatedDate: string }>> {
  return app.request('PUT', `${appPath(appId)}/active-build`, { body: { buildId } });
}

export function packageRow(app: TestApp, { appId, versionId }: Place): Promise<AppPackageEntity | null> {
  return app.dataSource.getRepository(AppPackageEntity).findOneBy({ appId, appVersionId: versionId });
}

/** Returns the systems of a version, by name. */
export async function systemRows(app: TestApp, { appId, versionId }: Place): Promise<SystemEntity[]> {
  const rows = await app.dataSource.getRepository(SystemEntity).findBy({ appId, appVersionId: versionId });
  return rows.toSorted((one, other) => (one.nameKey < other.nameKey ? -1 : 1));
}

export function buildRows(app: TestApp, appId: string): Promise<BuildEntity[]> {
  return app.dataSource.getRepository(BuildEntity).find({ where: { appId }, order: { buildId: 'ASC' } });
}

export function activeRow(app: TestApp, appId: string): Promise<ActiveBuildEntity | null> {
  return app.dataSource.getRepository(ActiveBuildEntity).findOneBy({ appId });
}

export function nodeRows(app: TestApp, definitionSvcUuid: string): Promise<ProcessNodeEntity[]> {
  return app.dataSource.getRepository(ProcessNodeEntity).findBy({ definitionSvcUuid });
}

/** Returns the tools of a build, in the order in which their servers list them. */
export function toolsOfBuild(app: TestApp, buildId: string): Promise<BuildToolEntity[]> {
  return app.dataSource
    .getRepository(BuildToolEntity)
    .find({ where: { buildId }, order: { position: 'ASC' } });
}

/** Returns the stored graph of a process of a build. */
export async function graphOf(app: TestApp, buildId: string, name: string): Promise<ProcessGraph> {
  const where = { buildId, name };
  const row = await app.dataSource.getRepository(BuildDefinitionEntity).findOneByOrFail(where);
  return JSON.parse(row.graph) as ProcessGraph;
}

/** Returns the numbers of the nodes of a process of a build, keyed by BPMN element id. */
export async function numbersOf(
  app: TestApp,
  buildId: string,
  name: string,
): Promise<Record<string, number>> {
  const { nodes } = await graphOf(app, buildId, name);
  return Object.fromEntries(nodes.map(({ key, id }) => [key, id]));
}
