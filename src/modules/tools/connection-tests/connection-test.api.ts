import { apiRoutes } from '../../../common/http/api-routes.js';
import { ConnectionTestRequestDto, ConnectionTestResponseDto } from './connection-test.dto.js';
import { CONNECTION_TEST_EXAMPLES, CONNECTION_TEST_RESULT_EXAMPLES } from './connection-test.examples.js';

/** What the OpenAPI document says of the routes beside it. */
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
