/** Example bodies of operations on systems for the API documentation. */
const JANE = { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe' };
export const JANE_HERSELF = { ...JANE, impersonatingUser: null };
const TIMES = { createdDate: '2026-01-31T10:20:30.123Z', modifiedDate: '2026-01-31T10:20:30.123Z' };
const IDS = {
  id: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b0f',
  svcUuid: null,
  resourceId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10',
  resourceDefinitionId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b11',
};
const INVENTORY = {
  type: 'MCP',
  name: 'Inventory tools',
  baseUrl: 'https://mcp.example.com/mcp',
  description: 'Stock levels and orders of the warehouse',
};
const PUBLIC_CONFIGURATION = {
  clientId: 'inventory-agent',
  identityProviderUrl: 'https://sso.example.com/oauth2/token',
};

/** Authorization of a request with client credentials. */
export const SERVICE_ACCOUNT_EXAMPLE = {
  type: 'SERVICE_ACCOUNT',
  configuration: { ...PUBLIC_CONFIGURATION, clientSecret: 'the-secret-of-the-client' },
};

const API_KEY_EXAMPLE = {
  type: 'API_KEY',
  configuration: { headerName: 'X-API-Key', apiKey: 'the-api-key-of-the-server' },
};
const NO_AUTH_EXAMPLE = { type: 'NO_AUTH' };

const newSystem = (summary: string, authorization: object) => ({
  summary,
  value: { action: 'CREATE', resourceName: 'inventory_tools', payload: { ...INVENTORY, authorization } },
});

export const CREATE_SYSTEM_EXAMPLES = {
  noAuthentication: newSystem('A server without authentication', NO_AUTH_EXAMPLE),
  serviceAccount: newSystem('A server behind OAuth 2.0 client credentials', SERVICE_ACCOUNT_EXAMPLE),
  apiKey: newSystem('A server that requires an API key in a header', API_KEY_EXAMPLE),
};

const createdSystem = (summary: string, authorization: object) => ({
  summary,
  value: { ...IDS, ...INVENTORY, ...TIMES, authorization, tools: [], createdBy: JANE, modifiedBy: JANE },
});

export const CREATED_SYSTEM_EXAMPLES = {
  noAuthentication: createdSystem('A server without authentication', NO_AUTH_EXAMPLE),
  serviceAccount: createdSystem('A server behind OAuth 2.0 client credentials; the secret is not shown', {
    type: 'SERVICE_ACCOUNT',
    configuration: PUBLIC_CONFIGURATION,
  }),
};

export const SYSTEM_EXAMPLE = {
  ...IDS,
  ...INVENTORY,
  ...TIMES,
  authorization: { type: 'SERVICE_ACCOUNT', config: PUBLIC_CONFIGURATION },
  tools: [
    {
      id: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
      svcUuid: null,
      name: 'get-stock',
      description: 'Units of an article in a warehouse',
      inputSchema: {
        type: 'object',
        properties: { article: { type: 'string' }, warehouse: { type: 'string', enum: ['north', 'south'] } },
        required: ['article'],
      },
      outputSchema: { type: 'object', properties: { units: { type: 'integer' } }, required: ['units'] },
      enabled: true,
    },
  ],
  createdBy: JANE_HERSELF,
  modifiedBy: JANE_HERSELF,
};

const withSecret = (clientSecret: string) => ({
  authorization: { type: 'SERVICE_ACCOUNT', configuration: { clientSecret } },
});

export const UPDATE_SYSTEM_EXAMPLES = {
  newSecret: { summary: 'Another client secret', value: withSecret('the-new-secret-of-the-client') },
  text: {
    summary: 'Another name and description',
    value: { name: 'Inventory', description: 'Stock levels of all warehouses' },
  },
  address: {
    summary: 'Another address, which requires the secret again',
    value: { baseUrl: 'https://mcp2.example.com/mcp', ...withSecret('the-secret-of-the-client') },
  },
  noAuthentication: {
    summary: 'No credentials; deletes the stored ones',
    value: { authorization: NO_AUTH_EXAMPLE },
  },
};

export const REPLACE_SECRET_EXAMPLES = {
  secret: { summary: 'A new secret', value: { clientSecret: 'the-new-secret-of-the-client' } },
  apiKey: { summary: 'A new API key', value: { apiKey: 'the-new-api-key-of-the-server' } },
};

export const REPLACE_CERTIFICATE_EXAMPLES = {
  certificate: {
    summary: 'A new certificate and its key',
    value: {
      clientCertificate: '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n',
      clientKey: '-----BEGIN PRIVATE KEY-----\nMIGH…\n-----END PRIVATE KEY-----\n',
    },
  },
};

const done = (message: string) => ({ status: 200, message, resourceId: IDS.resourceId });

export const REPLACED_SECRET_EXAMPLE = done('Client secret replaced.');
export const REPLACED_CERTIFICATE_EXAMPLE = done('Client certificate replaced.');
export const DELETED_SYSTEM_EXAMPLE = done('System deleted.');

const { id, resourceId, resourceDefinitionId } = IDS;
const { name, description } = INVENTORY;
const SUMMARY = {
  id,
  resourceId,
  resourceDefinitionId,
  type: 'MCP',
  name,
  description,
  appId: 'sample',
  appVersionId: 'v1',
};
const MANIFEST = {
  resourceName: 'inventory_tools',
  resourceType: 'MCP',
  status: 'DRAFT',
  lastChangeTime: TIMES.modifiedDate,
  lastCommittedTime: null,
};

export const SYSTEM_LIST_EXAMPLES = {
  plain: { summary: 'Default', value: { systems: [SUMMARY] } },
  withManifest: {
    summary: 'With includeManifestInfo=true',
    value: { systems: [{ ...SUMMARY, manifestInfo: MANIFEST }] },
  },
};
