/** Bodies that the API documentation shows for operations on systems. */
const JANE = { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe' };
const JANE_HERSELF = { ...JANE, impersonatingUser: null };
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

/** Authorization of a request that carries client credentials. */
export const SERVICE_ACCOUNT_EXAMPLE = {
  type: 'SERVICE_ACCOUNT',
  configuration: { ...PUBLIC_CONFIGURATION, clientSecret: 'the-secret-of-the-client' },
};

const API_KEY_EXAMPLE = {
  type: 'API_KEY',
  configuration: { headerName: 'X-API-Key', apiKey: 'the-api-key-of-the-server' },
};

export const CREATE_SYSTEM_EXAMPLES = {
  noAuthentication: {
    summary: 'A server that asks for no credentials',
    value: {
      action: 'CREATE',
      resourceName: 'inventory_tools',
      payload: { ...INVENTORY, authorization: { type: 'NO_AUTH' } },
    },
  },
  serviceAccount: {
    summary: 'A server behind OAuth 2.0 client credentials',
    value: {
      action: 'CREATE',
      resourceName: 'inventory_tools',
      payload: { ...INVENTORY, authorization: SERVICE_ACCOUNT_EXAMPLE },
    },
  },
  apiKey: {
    summary: 'A server that asks for a key in a header',
    value: {
      action: 'CREATE',
      resourceName: 'inventory_tools',
      payload: { ...INVENTORY, authorization: API_KEY_EXAMPLE },
    },
  },
};

export const CREATED_SYSTEM_EXAMPLES = {
  noAuthentication: {
    summary: 'A server that asks for no credentials',
    value: {
      ...IDS,
      ...INVENTORY,
      ...TIMES,
      authorization: { type: 'NO_AUTH' },
      tools: [],
      createdBy: JANE,
      modifiedBy: JANE,
    },
  },
  serviceAccount: {
    summary: 'A server behind OAuth 2.0 client credentials; the secret is not shown',
    value: {
      ...IDS,
      ...INVENTORY,
      ...TIMES,
      authorization: { type: 'SERVICE_ACCOUNT', configuration: PUBLIC_CONFIGURATION },
      tools: [],
      createdBy: JANE,
      modifiedBy: JANE,
    },
  },
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

export const UPDATE_SYSTEM_EXAMPLES = {
  newSecret: {
    summary: 'Another client secret',
    value: {
      authorization: {
        type: 'SERVICE_ACCOUNT',
        configuration: { clientSecret: 'the-new-secret-of-the-client' },
      },
    },
  },
  text: {
    summary: 'Another name and description',
    value: { name: 'Inventory', description: 'Stock levels of all warehouses' },
  },
  address: {
    summary: 'Another address, with the secret, which must not reach a new server unasked',
    value: {
      baseUrl: 'https://mcp2.example.com/mcp',
      authorization: { type: 'SERVICE_ACCOUNT', configuration: { clientSecret: 'the-secret-of-the-client' } },
    },
  },
  noAuthentication: {
    summary: 'No credentials any more; the stored ones are deleted',
    value: { authorization: { type: 'NO_AUTH' } },
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

export const REPLACED_SECRET_EXAMPLE = {
  status: 200,
  message: 'Client secret replaced.',
  resourceId: IDS.resourceId,
};

export const DELETED_SYSTEM_EXAMPLE = {
  status: 200,
  message: 'System deleted.',
  resourceId: IDS.resourceId,
};

const { id, resourceId, resourceDefinitionId } = IDS;
const SUMMARY = {
  id,
  resourceId,
  resourceDefinitionId,
  type: 'MCP',
  name: INVENTORY.name,
  description: INVENTORY.description,
  appId: 'sample',
  appVersionId: 'v1',
};

export const SYSTEM_LIST_EXAMPLES = {
  plain: { summary: 'As it is', value: { systems: [SUMMARY] } },
  withManifest: {
    summary: 'With includeManifestInfo=true',
    value: {
      systems: [
        {
          ...SUMMARY,
          manifestInfo: {
            resourceName: 'inventory_tools',
            resourceType: 'MCP',
            status: 'DRAFT',
            lastChangeTime: '2026-01-31T10:20:30.123Z',
            lastCommittedTime: null,
          },
        },
      ],
    },
  },
};
