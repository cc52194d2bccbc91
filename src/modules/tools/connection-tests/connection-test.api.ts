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
      '`MCP_TEST_TIMEOUT_MS`, 15 seconds unless the deployment says otherwise, and has a rate limit of its own.',
    body: { type: ConnectionTestRequestDto, examples: CONNECTION_TEST_EXAMPLES },
    answer: {
      type: ConnectionTestResponseDto,
      examples: CONNECTION_TEST_RESULT_EXAMPLES,
      description: 'The outcome, good or bad; see `status`.',
    },
  },
});
