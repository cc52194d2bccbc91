import { getSchemaPath } from '@nestjs/swagger';
import { denialOf } from '../../platform/auth/auth.errors.js';
import { Permission } from '../../platform/auth/permission.js';
import { ANY_OBJECT, apiRoutes } from '../../platform/http/api-routes.js';
import { ErrorResponseDto } from '../../platform/errors/error.response.dto.js';
import { ResourceMetadataDto } from './resource-metadata.dto.js';

/** The header of RFC 6750, section 3, and RFC 9728, section 5.1. @param error pattern of what precedes the metadata */
function challenge(error: string) {
  return {
    'WWW-Authenticate': {
      description: 'How to authenticate, and where the metadata of the endpoint is.',
      required: true,
      schema: { type: 'string' as const, pattern: `^Bearer ${error}resource_metadata="[^"]+"$` },
    },
  };
}

/** A response of the transport, with a JSON-RPC error. */
function refused(status: number, description: string) {
  const example = { jsonrpc: '2.0', id: null };
  return { status, description, content: { 'application/json': { schema: ANY_OBJECT, example } } };
}

const MESSAGES = {
  answer: {
    description: 'JSON-RPC response, or a stream of messages that ends with it.',
    content: {
      'application/json': {
        schema: ANY_OBJECT,
        example: { jsonrpc: '2.0', id: 1, result: { tools: [] } },
      },
      'text/event-stream': {
        schema: { type: 'string' },
        example: 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}\n\n',
      },
    },
  },
  others: [
    { status: 202, description: 'The notification was received.' },
    refused(406, 'The client does not accept JSON and event streams.'),
    refused(415, 'The body has no Content-Type.'),
  ],
  errors: [
    {
      401: {
        message: 'Authentication required or failed.',
        details: 'The access token has expired.',
        headers: challenge('(error="invalid_token", )?'),
      },
    },
    {
      403: {
        message: denialOf(Permission.ToolUse),
        headers: challenge('error="insufficient_scope"(, scope="[^"]+")?, '),
      },
    },
    { 404: 'The application has no active build.' },
  ],
} as const;

const METADATA = {
  description:
    'Extension of the contract, public. OAuth 2.0 Protected Resource Metadata (RFC 9728). The same for every application, whether it exists or not.',
  isPublic: true,
  answer: { type: ResourceMetadataDto, description: 'The metadata.' },
  others: [
    {
      status: 400,
      description: 'The application id is not valid.',
      content: {
        'application/json': {
          schema: { $ref: getSchemaPath(ErrorResponseDto) },
          example: {
            error: 'Bad Request',
            message: 'Request validation failed.',
            status: 400,
            details: 'appId: must be 1 to 64 letters, digits, ".", "_" or "-"',
          },
        },
      },
    },
  ],
} as const;

function bodyOf(
  summary: string,
  message: object,
): { schema: typeof ANY_OBJECT; examples: Record<string, { summary: string; value: object }> } {
  return {
    schema: ANY_OBJECT,
    examples: { message: { summary, value: { jsonrpc: '2.0', id: 1, ...message } } },
  };
}

export const McpEndpointsApi = apiRoutes([], {
  callMcpEndpoint: {
    summary: 'Use the tools of an application over MCP',
    description:
      'Extension of the contract. Streamable HTTP of the Model Context Protocol, revisions 2026-07-28 and 2025, without sessions. Offers the tools of the MCP systems of the active build under the names that agents of the application see, ' +
      'with their reviewed definitions: those that are enabled now. Clients that listen for changes are notified when a switch, a review or another build changes the list. ' +
      'A call follows the same rules as calls of agents and is recorded in the audit log before and after it. The access token of the caller is never sent to an MCP server. ' +
      'Responses 401 and 403 name the metadata of the endpoint (RFC 9728) in `WWW-Authenticate`.',
    body: bodyOf('List the tools', { method: 'tools/list' }),
    ...MESSAGES,
  },
  searchMcpEndpoint: {
    summary: 'Search and use the tools of an application over MCP',
    description:
      'Extension of the contract. As `callMcpEndpoint`, for applications with many tools: lists `search_tools`, which finds tools by words of their names, descriptions and parameters, and `call_tool`, which calls one.',
    body: bodyOf('Find tools', {
      method: 'tools/call',
      params: { name: 'search_tools', arguments: { query: 'refund an order' } },
    }),
    ...MESSAGES,
  },
  getMcpEndpointMetadata: { summary: 'Get where clients of an MCP endpoint get access tokens', ...METADATA },
  getSearchEndpointMetadata: {
    summary: 'Get where clients of a search endpoint get access tokens',
    ...METADATA,
  },
});
