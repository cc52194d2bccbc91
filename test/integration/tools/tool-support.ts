import type { TestApp, TestResponse } from '../../support/app.js';
import { connectionTestPath, createPath, createSystemBody, detailsPath } from '../../support/factories.js';

/** A tool as get-by-id shows it. */
export interface ToolBody {
  id: string;
  svcUuid: null;
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema: Record<string, unknown>;
  enabled: boolean;
}

/** A system as get-by-id shows it. */
export interface SystemBody {
  id: string;
  resourceId: string;
  description: string;
  modifiedDate: string;
  tools: ToolBody[];
}

/** The answer of a connection test. */
export interface ConnectionTestBody {
  status: number;
  message: string;
  details?: string;
  tools?: { name: string; description: string; inputSchema: Record<string, unknown> }[];
  rejectedTools?: { name: string; reason: string }[];
  synchronizedSystems?: ({ resourceId: string } & Record<
    'added' | 'changed' | 'removed' | 'returned' | 'disabledForReview',
    string[]
  >)[];
  warnings?: string[];
}

/** Where a system lives and how it is reached. */
export interface Target {
  baseUrl: string;
  authorization?: Record<string, unknown>;
  versionId?: string;
  description?: string;
}

/** Creates a system in application `app`. */
export async function createSystem(
  app: TestApp,
  { baseUrl, authorization = { type: 'NO_AUTH' }, versionId, description = '' }: Target,
): Promise<SystemBody> {
  const body = createSystemBody({ payload: { baseUrl, authorization, description } });
  const response = await app.request<SystemBody>('PATCH', createPath('app', versionId), { body });
  if (response.status !== 201) {
    throw new Error(response.text);
  }
  return response.body;
}

/** Tests a connection in application `app`. */
export function testConnection(
  app: TestApp,
  { baseUrl, authorization = { type: 'NO_AUTH' }, versionId }: Target,
): Promise<TestResponse<ConnectionTestBody>> {
  return app.request('PATCH', connectionTestPath('app', versionId), { body: { baseUrl, authorization } });
}

/** A system as stored now. */
export async function readSystem(app: TestApp, resourceId: string, versionId?: string): Promise<SystemBody> {
  return (await app.request<SystemBody>('GET', detailsPath(resourceId, 'app', versionId))).body;
}

/** Names of tools, marked with `-` when disabled. */
export function flags(tools: readonly ToolBody[]): string[] {
  return tools.map(({ name, enabled }) => (enabled ? name : `-${name}`));
}

/** Commits an application version, as the delivery of a package will. */
export async function commitVersion(app: TestApp, versionId: string): Promise<void> {
  await app.dataSource.manager
    .createQueryBuilder()
    .update('AppVersionEntity')
    .set({ state: 'COMMITTED', committedAt: new Date('2026-01-31T10:20:30.123Z') })
    .where({ appId: 'app', appVersionId: versionId })
    .execute();
}
