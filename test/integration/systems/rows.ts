import { v7 as uuid } from 'uuid';
import { definitionHash } from '../../../src/platform/json/tool-definition-hash.js';
import { AppVersionEntity, VersionDependencyEntity } from '../../../src/apps/app-version.entity.js';
import { AppVersionState } from '../../../src/apps/apps.types.js';
import { AuditEventEntity } from '../../../src/audit/storage/audit-event.entity.js';
import { ResourceDefinitionEntity, SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { SystemType } from '../../../src/systems/model/system.types.js';
import { ToolEntity } from '../../../src/systems/tools/storage/tool.entity.js';
import type { TestApp } from '../../support/app.js';
import { createPath, createSystemBody, uniqueName } from '../../support/factories.js';

/** A system as the create operation answers it. */
export interface SystemBody {
  id: string;
  svcUuid: null;
  resourceId: string;
  resourceDefinitionId: string;
  type: string;
  name: string;
  baseUrl: string;
  authorization: Record<string, unknown>;
  description: string;
  tools: Record<string, unknown>[];
  createdDate: string;
  modifiedDate: string;
  createdBy: Record<string, unknown>;
  modifiedBy: Record<string, unknown>;
}

/** A stored system. */
type SystemRow = Omit<SystemEntity, 'tools'>;

/** Where a test works: an application version that no other test uses. */
export interface Place {
  appId: string;
  versionId: string;
}

export function newPlace(): Place {
  return { appId: uniqueName('app'), versionId: 'v1' };
}

/**
 * Creates a system and expects it to work.
 * @param body overrides as createSystemBody() takes them
 * @param token of another caller than the usual one
 */
export async function createdSystem(
  app: TestApp,
  { appId, versionId }: Place,
  body: Parameters<typeof createSystemBody>[0] = {},
  token?: string,
): Promise<SystemBody> {
  const response = await app.request<SystemBody>('PATCH', createPath(appId, versionId), {
    body: createSystemBody(body),
    ...(token === undefined ? {} : { token }),
  });
  if (response.status !== 201) {
    throw new Error(`${response.status} ${response.text}`);
  }
  return response.body;
}

/** The row of a system, null when there is none. */
export function systemRow(app: TestApp, id: string): Promise<SystemEntity | null> {
  return app.dataSource.getRepository(SystemEntity).findOneBy({ id });
}

/** What the audit log holds of the place, oldest first. */
export function auditRows(app: TestApp, { appId, versionId }: Place): Promise<AuditEventEntity[]> {
  return app.dataSource
    .getRepository(AuditEventEntity)
    .find({ where: { appId, appVersionId: versionId }, order: { id: 'ASC' } });
}

/** How many systems a version holds. */
export function countSystems(app: TestApp, { appId, versionId }: Place): Promise<number> {
  return app.dataSource.getRepository(SystemEntity).countBy({ appId, appVersionId: versionId });
}

/** The definitions that an application holds. */
export function definitionRows(app: TestApp, appId: string): Promise<ResourceDefinitionEntity[]> {
  return app.dataSource.getRepository(ResourceDefinitionEntity).findBy({ appId });
}

/** Stores a system of any type, as the delivery of an application package will. */
export async function insertSystem(
  app: TestApp,
  place: Place,
  columns: Partial<SystemRow> = {},
): Promise<SystemRow> {
  const row = deliveredRow(place, columns);
  await app.dataSource.getRepository(SystemEntity).insert(row);
  return row;
}

/** As `insertSystem`, many in one statement: a commit for each would take as long as the disk likes. */
export async function insertSystems(
  app: TestApp,
  place: Place,
  systems: Partial<SystemRow>[],
): Promise<void> {
  const rows = systems.map((columns) => deliveredRow(place, columns));
  await app.dataSource.getRepository(SystemEntity).insert(rows);
}

function deliveredRow({ appId, versionId }: Place, columns: Partial<SystemRow>): SystemRow {
  const resourceName = columns.resourceName ?? uniqueName('Delivered');
  const user = { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe', impersonatingUser: null };
  const now = new Date('2026-01-31T10:20:30.123Z');
  return {
    id: uuid(),
    resourceId: uuid(),
    resourceDefinitionId: uuid(),
    appId,
    appVersionId: versionId,
    type: SystemType.Rest,
    resourceName,
    nameKey: resourceName.toLowerCase(),
    name: resourceName,
    description: '',
    baseUrl: null,
    authorizationType: null,
    caCertificates: null,
    clientCertificate: null,
    clientKey: null,
    clientId: null,
    clientSecret: null,
    identityProviderUrl: null,
    credentialOptions: null,
    headers: null,
    headerNames: null,
    timeoutMs: null,
    connectionKey: null,
    toolsSynchronisedAt: null,
    toolsDueAt: null,
    createdBy: user,
    modifiedBy: user,
    createdAt: now,
    modifiedAt: now,
    ...columns,
  };
}

/** Stores tools of a system in the order given, as a synchronisation does; returns their ids. */
export async function insertTools(
  app: TestApp,
  systemId: string,
  tools: (Partial<Omit<ToolEntity, 'system'>> & { name: string })[],
): Promise<string[]> {
  const now = new Date();
  const rows = tools.map((tool, position) => ({
    id: uuid(),
    systemId,
    ...definitionOf(tool),
    enabled: true,
    present: true,
    position,
    createdAt: now,
    modifiedAt: now,
    ...tool,
  }));
  // Backwards, so that the order of storing and of ids is not the order of the list.
  await app.dataSource.getRepository(ToolEntity).insert(rows.toReversed() as never[]);
  return rows.map(({ id }) => id);
}

function definitionOf(tool: Partial<Omit<ToolEntity, 'system'>> & { name: string }) {
  const definition = {
    title: null,
    description: `Does ${tool.name}`,
    inputSchema: { type: 'object' },
    outputSchema: null,
    annotations: null,
    ...tool,
  };
  return { ...definition, definitionHash: definitionHash(definition) };
}

/** The tools of a system as stored, in the order of the list. */
export function toolRows(app: TestApp, systemId: string): Promise<ToolEntity[]> {
  return app.dataSource.getRepository(ToolEntity).find({ where: { systemId }, order: { position: 'ASC' } });
}

/** Commits an application version, whether or not it holds anything, as the delivery of a package will. */
export async function commitVersion(
  app: TestApp,
  { appId, versionId }: Place,
  committedAt = new Date('2026-02-28T01:02:03.004Z'),
): Promise<void> {
  await app.dataSource.getRepository(AppVersionEntity).save({
    appId,
    appVersionId: versionId,
    state: AppVersionState.Committed,
    createdAt: new Date('2026-01-31T10:20:30.123Z'),
    committedAt,
  });
}

/** Makes one version depend on another one. */
export async function insertDependency(
  app: TestApp,
  from: Place,
  to: Place,
  dependencyType = 'LIB',
): Promise<void> {
  await app.dataSource.getRepository(VersionDependencyEntity).insert({
    appId: from.appId,
    appVersionId: from.versionId,
    dependencyType: dependencyType as VersionDependencyEntity['dependencyType'],
    dependencyAppId: to.appId,
    dependencyAppVersionId: to.versionId,
  });
}

/** A copy of a body with the value at a dotted path replaced; undefined removes it. */
export function withField(
  body: Record<string, unknown>,
  path: string,
  value: unknown,
): Record<string, unknown> {
  const [name = '', ...rest] = path.split('.');
  const member = body[name] as Record<string, unknown>;
  return { ...body, [name]: rest.length === 0 ? value : withField(member, rest.join('.'), value) };
}
