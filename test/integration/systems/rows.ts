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

/** Response body of the create operation. */
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

/** An application version that only one test uses. */
export interface Place {
  appId: string;
  versionId: string;
}

export function newPlace(): Place {
  return { appId: uniqueName('app'), versionId: 'v1' };
}

/**
 * Creates a system. Throws if the request fails.
 * @param body overrides for `createSystemBody`
 * @param token token of a caller other than the default one
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

/** Returns the row of a system, or null if it does not exist. */
export function systemRow(app: TestApp, id: string): Promise<SystemEntity | null> {
  return app.dataSource.getRepository(SystemEntity).findOneBy({ id });
}

/** Returns the audit events of an application version, oldest first. */
export function auditRows(app: TestApp, { appId, versionId }: Place): Promise<AuditEventEntity[]> {
  return app.dataSource
    .getRepository(AuditEventEntity)
    .find({ where: { appId, appVersionId: versionId }, order: { id: 'ASC' } });
}

/** Counts the systems of a version. */
export function countSystems(app: TestApp, { appId, versionId }: Place): Promise<number> {
  return app.dataSource.getRepository(SystemEntity).countBy({ appId, appVersionId: versionId });
}

/** Returns the resource definitions of an application. */
export function definitionRows(app: TestApp, appId: string): Promise<ResourceDefinitionEntity[]> {
  return app.dataSource.getRepository(ResourceDefinitionEntity).findBy({ appId });
}

/** Inserts a system of any type, as the delivery of a package does. */
export async function insertSystem(
  app: TestApp,
  place: Place,
  columns: Partial<SystemRow> = {},
): Promise<SystemRow> {
  const row = deliveredRow(place, columns);
  await app.dataSource.getRepository(SystemEntity).insert(row);
  return row;
}

/** Like `insertSystem`, but inserts many systems in one statement, which avoids a slow commit for each. */
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

/** Inserts tools of a system in this order, as a synchronization does. Returns their ids. */
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
  // Insert in reverse, so that the order of rows and ids differs from the order of the list.
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

/** Returns the tool rows of a system, in the order of the list. */
export function toolRows(app: TestApp, systemId: string): Promise<ToolEntity[]> {
  return app.dataSource.getRepository(ToolEntity).find({ where: { systemId }, order: { position: 'ASC' } });
}

/** Commits an application version, even if it is empty, as the delivery of a package does. */
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

/** Adds a dependency of one version on another. */
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

/** Returns a copy of a body with the value at a dotted path replaced. JSON omits undefined values. */
export function withField(
  body: Record<string, unknown>,
  path: string,
  value: unknown,
): Record<string, unknown> {
  const [name = '', ...rest] = path.split('.');
  const member = body[name] as Record<string, unknown>;
  return { ...body, [name]: rest.length === 0 ? value : withField(member, rest.join('.'), value) };
}
