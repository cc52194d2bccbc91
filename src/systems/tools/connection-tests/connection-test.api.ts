import { JANE_HERSELF, SERVICE_ACCOUNT_EXAMPLE } from '../../model/system.examples.js';
import { apiRoutes } from '../../../platform/http/api-routes.js';
import { ConnectionTestRequestDto, ConnectionTestResponseDto } from './connection-test.dto.js';

/** Example bodies of the connection test for the API documentation. */
export const CONNECTION_TEST_EXAMPLES = {
  noAuthentication: {
    summary: 'A server that requires no credentials, such as the sample server of npm run dev:mcp-server',
    value: { baseUrl: 'http://127.0.0.1:3001/mcp', authorization: { type: 'NO_AUTH' } },
  },
  serviceAccount: {
    summary: 'A server behind OAuth 2.0 client credentials',
    value: { baseUrl: 'https://mcp.example.com/mcp', authorization: SERVICE_ACCOUNT_EXAMPLE },
  },
};

export const CONNECTION_TEST_RESULT_EXAMPLES = {
  connected: {
    summary: 'Connected; the tools of one registered system were updated',
    value: {
      status: 200,
      message: 'Connection successful',
      tools: [
        {
          name: 'get-stock',
          description: 'Units of an article in a warehouse',
          inputSchema: {
            type: 'object',
            properties: { article: { type: 'string' } },
            required: ['article'],
          },
        },
        {
          name: 'order',
          description: 'Orders an article',
          inputSchema: { type: 'object', properties: { article: { type: 'string' } } },
        },
      ],
      rejectedTools: [{ name: 'get-prices', reason: 'external_reference' }],
      toolWarnings: [{ name: 'order', reason: 'description_cut' }],
      synchronizedSystems: [
        {
          resourceId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10',
          name: 'Inventory tools',
          added: ['get-stock', 'order'],
          changed: [],
          removed: [],
          returned: [],
          disabledForReview: [],
          takenOver: [
            {
              name: 'order',
              enabled: false,
              decidedBy: JANE_HERSELF,
              decidedAt: '2026-01-31T10:20:30.123Z',
            },
          ],
        },
      ],
      server: { name: 'inventory-mcp', version: '2.1.0' },
      protocolVersion: '2025-11-25',
      transport: 'streamable-http',
      warnings: [],
      latencyMs: 42,
    },
  },
  rejected: {
    summary: 'The credentials were rejected',
    value: {
      status: 400,
      message: 'Connection failed: Invalid authentication credentials',
      details: 'The token endpoint rejected the client id or the client secret.',
      latencyMs: 31,
    },
  },
  unreachable: {
    summary: 'Any other failure',
    value: {
      status: 500,
      message: 'Connection failed: MCP server is unreachable',
      details: 'The connection was refused.',
      latencyMs: 4,
    },
  },
};

export const ConnectionTestApi = apiRoutes([403], {
  testMcpConnection: {
    summary: 'Test the connection to an MCP server',
    description:
      'Connects, reads all tools and synchronises the tools of all systems of this version that have the same connection, even in a committed version. ' +
      'The outcome is in `status` of the body; the HTTP status is 200 even for a failed test. A test ends within ' +
      '15 seconds and has its own rate limit.',
    body: { type: ConnectionTestRequestDto, examples: CONNECTION_TEST_EXAMPLES },
    answer: {
      type: ConnectionTestResponseDto,
      examples: CONNECTION_TEST_RESULT_EXAMPLES,
      description: 'Outcome of the test; see `status`.',
    },
  },
  testStoredConnection: {
    summary: 'Test the stored connection of a system',
    description:
      'Tests a connection with the stored address, credentials and certificates of the system, so that the caller does not need its secret. ' +
      'Synchronises tools, returns HTTP status 200 even for a failed test, and shares the rate limit of `testMcpConnection`.',
    answer: {
      type: ConnectionTestResponseDto,
      examples: CONNECTION_TEST_RESULT_EXAMPLES,
      description: 'Outcome of the test; see `status`.',
    },
    errors: [404],
  },
});
