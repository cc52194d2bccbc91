import { TestApp, type TestResponse } from '../../support/app.js';
import { connectionTestPath, createPath, createSystemBody, detailsPath } from '../../support/factories.js';
import { sendResult, startScriptedMcp, type ScriptedMcpPeer } from '../../support/peers/scripted-mcp.peer.js';

/** A tool in the response of get-by-id. */
export interface ToolBody {
  id: string;
  svcUuid: null;
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema: Record<string, unknown>;
  enabled: boolean;
}

/** Response body of get-by-id. */
export interface SystemBody {
  id: string;
  resourceId: string;
  description: string;
  modifiedDate: string;
  tools: ToolBody[];
}

/** Response body of a connection test. */
export interface ConnectionTestBody {
  status: number;
  message: string;
  details?: string;
  tools?: { name: string; description: string; inputSchema: Record<string, unknown> }[];
  rejectedTools?: { name: string; reason: string }[];
  toolWarnings?: { name: string; reason: string }[];
  synchronizedSystems?: ({ resourceId: string } & Record<
    'added' | 'changed' | 'removed' | 'returned' | 'disabledForReview',
    string[]
  >)[];
  warnings?: string[];
}

/** Application version and connection of a system. */
export interface Target {
  baseUrl: string;
  authorization?: Record<string, unknown>;
  versionId?: string;
  description?: string;
  resourceName?: string;
}

/** Two service instances on one database, and an MCP server. */
export interface ToolServices {
  /** Disables new and changed tools for review. */
  app: TestApp;
  /** Keeps new and changed tools enabled. */
  accepting: TestApp;
  server: ScriptedMcpPeer;
  close: () => Promise<void>;
}

/**
 * Starts the services and the MCP server.
 * @param listed returns the current tools of the server
 */
export async function startToolServices(listed: () => unknown[]): Promise<ToolServices> {
  const app = await TestApp.start();
  const accepting = await TestApp.start({ TOOL_CHANGE_POLICY: 'accept' });
  const server = await startScriptedMcp({
    list: ({ id, response }) => sendResult(response, id, { tools: listed() }),
  });
  const close = async (): Promise<void> => {
    await Promise.all([app.close(), accepting.close(), server.close()]);
  };
  return { app, accepting, server, close };
}

/** Creates a system in application `app`. */
export async function createSystem(
  app: TestApp,
  { baseUrl, authorization = { type: 'NO_AUTH' }, versionId, description = '', ...named }: Target,
): Promise<SystemBody> {
  const body = createSystemBody({ ...named, payload: { baseUrl, authorization, description } });
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

/** Reads a system of application `app`. */
export async function readSystem(app: TestApp, resourceId: string, versionId?: string): Promise<SystemBody> {
  return (await app.request<SystemBody>('GET', detailsPath(resourceId, 'app', versionId))).body;
}

/** Returns the names of tools, with the prefix `-` for disabled ones. */
export function flags(tools: readonly ToolBody[]): string[] {
  return tools.map(({ name, enabled }) => (enabled ? name : `-${name}`));
}

/** Commits an application version, as the delivery of a package does. */
export async function commitVersion(app: TestApp, versionId: string): Promise<void> {
  await app.dataSource.manager
    .createQueryBuilder()
    .update('AppVersionEntity')
    .set({ state: 'COMMITTED', committedAt: new Date('2026-01-31T10:20:30.123Z') })
    .where({ appId: 'app', appVersionId: versionId })
    .execute();
}
