import { JANE_HERSELF, SERVICE_ACCOUNT_EXAMPLE } from '../../model/system.examples.js';
import { apiRoutes } from '../../../platform/http/api-routes.js';
import { ConnectionTestRequestDto, ConnectionTestResponseDto } from './connection-test.dto.js';

/** Bodies that the API documentation shows for the connection test. */
export const CONNECTION_TEST_EXAMPLES = {
  noAuthentication: {
    summary: 'A server that asks for no credentials, such as the sample server of npm run dev:mcp-server',
    value: { baseUrl: 'http://127.0.0.1:3001/mcp', authorization: { type: 'NO_AUTH' } },
  },
  serviceAccount: {
    summary: 'A server behind OAuth 2.0 client credentials',
    value: { baseUrl: 'https://mcp.example.com/mcp', authorization: SERVICE_ACCOUNT_EXAMPLE },
  },
};

export const CONNECTION_TEST_RESULT_EXAMPLES = {
  connected: {
    summary: 'Connected; one registered system took over the tools',
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
      details: 'The token endpoint refused the client id or the client secret.',
      latencyMs: 31,
    },
  },
  unreachable: {
    summary: 'Anything else',
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
      'Connects, reads all tools and, where systems of this version have this very connection, synchronises their tools, in a committed version too. ' +
      'The outcome is in the `status` of the body; the HTTP status is 200 also for a failed test. A test ends within ' +
      '15 seconds, and has a rate limit of its own.',
    body: { type: ConnectionTestRequestDto, examples: CONNECTION_TEST_EXAMPLES },
    answer: {
      type: ConnectionTestResponseDto,
      examples: CONNECTION_TEST_RESULT_EXAMPLES,
      description: 'The outcome, good or bad; see `status`.',
    },
  },
  testStoredConnection: {
    summary: 'Test the connection of a system as it is stored',
    description:
      'As the test of a connection, with the address, the credentials and the certificates that the system has: nobody has to know its secret. ' +
      'Tools are synchronised, the HTTP status is 200 also for a failed test, and the rate limit is the same.',
    answer: {
      type: ConnectionTestResponseDto,
      examples: CONNECTION_TEST_RESULT_EXAMPLES,
      description: 'The outcome, good or bad; see `status`.',
    },
    errors: [404],
  },
});
