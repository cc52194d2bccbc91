/** Path prefix of all operations on one application version. */
export function versionPath(appId = 'app', versionId = 'v1'): string {
  return `/appmanager/api/resource/app/${appId}/app-version/${versionId}/rt/system`;
}

/** Path of the create operation. */
export function createPath(appId?: string, versionId?: string): string {
  return `${versionPath(appId, versionId)}/integration/api/systems`;
}

/** Path of the update and delete operations. */
export function systemPath(resourceId: string, appId?: string, versionId?: string): string {
  return `${versionPath(appId, versionId)}/ri/${resourceId}/integration/api/systems`;
}

/** Path of the get-by-id operation. */
export function detailsPath(resourceId: string, appId?: string, versionId?: string): string {
  return `${systemPath(resourceId, appId, versionId)}/getById`;
}

/** Path of the list operation. */
export function listPath(appId?: string, versionId?: string): string {
  return `${versionPath(appId, versionId)}/include-dep-res/integration/api/systems/all/info`;
}

/** Path of the connection test. */
export function connectionTestPath(appId = 'app', versionId = 'v1'): string {
  return (
    `/appmanager/api/runtime-internal/app/${appId}/app-version/${versionId}` +
    '/rt/system/integrationengine/api/systems/test-mcp-connection'
  );
}

/** Path that enables or disables a tool. */
export function toolPath(
  ids: { resourceId: string; systemId: string; toolId: string },
  appId?: string,
  versionId?: string,
): string {
  return `${systemPath(ids.resourceId, appId, versionId)}/ri/${ids.systemId}/tool/${ids.toolId}/enable`;
}

let counter = 0;

/** Returns a name that is unique within this process. */
export function uniqueName(prefix = 'system'): string {
  counter += 1;
  return `${prefix}_${process.pid}_${counter}`;
}

/** Body of the create operation. Members of `payload` are merged into the default payload. */
export function createSystemBody({
  payload = {},
  ...rest
}: { payload?: Record<string, unknown>; [member: string]: unknown } = {}): Record<string, unknown> {
  return {
    action: 'CREATE',
    resourceName: uniqueName(),
    payload: {
      name: 'Inventory tools',
      type: 'MCP',
      baseUrl: 'https://mcp.example.com/mcp',
      authorization: { type: 'NO_AUTH' },
      ...payload,
    },
    ...rest,
  };
}

/** Returns the `authorization` of a system that uses a service account. */
export function serviceAccount(configuration: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    type: 'SERVICE_ACCOUNT',
    configuration: {
      clientId: 'client-1',
      clientSecret: 'correct horse battery staple',
      identityProviderUrl: 'https://sso.example.com/token',
      ...configuration,
    },
  };
}
