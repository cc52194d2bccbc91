import { HttpStatus } from '@nestjs/common';
import { apiRoutes } from '../../platform/http/api-routes.js';
import { HEADER_MAX_LENGTH } from '../../platform/http/request.decorators.js';
import { OPTIONAL_IF_MATCH, SYSTEM_IF_MATCH } from '../../platform/http/conditional-requests.js';
import { LOCATION_HEADER } from '../../platform/http/answer-headers.js';
import {
  CreateSystemRequestDto,
  UpdateSystemRequestDto,
  ReplacedSecretResponseDto,
  ReplaceSecretRequestDto,
} from './system.request.dto.js';
import {
  DeletedSystemResponseDto,
  CreatedSystemResponseDto,
  SystemResponseDto,
} from './system.response.dto.js';
import { SystemListResponseDto } from './system-list.dto.js';
import {
  CREATED_SYSTEM_EXAMPLES,
  CREATE_SYSTEM_EXAMPLES,
  DELETED_SYSTEM_EXAMPLE,
  SYSTEM_EXAMPLE,
  SYSTEM_LIST_EXAMPLES,
  UPDATE_SYSTEM_EXAMPLES,
  REPLACE_CERTIFICATE_EXAMPLES,
  REPLACE_SECRET_EXAMPLES,
  REPLACED_CERTIFICATE_EXAMPLE,
  REPLACED_SECRET_EXAMPLE,
} from '../model/system.examples.js';
import { ClientCertificateRequestDto } from '../model/tls.request.dto.js';

/** The response header `ETag` (RFC 9110, section 8.8.3). */
const ETAG_HEADER = {
  ETag: {
    description:
      'Another one after each change of what is shown: the `If-None-Match` of the next request, or the `If-Match` of a change.',
    required: true,
    schema: { type: 'string', pattern: '^W/"[\\w-]{43}"$' },
  },
} as const;

/** The request header `If-None-Match` (RFC 9110, section 13.1.2). */
const IF_NONE_MATCH = {
  name: 'If-None-Match',
  required: false,
  description: 'The `ETag` of what was read, or several of them.',
  schema: { type: 'string', maxLength: HEADER_MAX_LENGTH },
} as const;

const COMMITTED = { 409: 'The application version is committed and can no longer be changed.' };

export const SystemsApi = apiRoutes([403], {
  createSystem: {
    summary: 'Create an MCP system',
    description:
      'Registers an MCP server as a system of an application version. The server is not called: test the connection to fill ' +
      '`tools`. The client secret is stored encrypted and never returned. `message` of a 400 for the characters of `resourceName` ' +
      'is `Name can only contain letters, numbers and the following special characters [] () . _ -`; `details` of a 400 names ' +
      'every field that breaks a rule. 409 when the name is taken or the version is committed.',
    status: HttpStatus.CREATED,
    body: { type: CreateSystemRequestDto, examples: CREATE_SYSTEM_EXAMPLES },
    answer: {
      type: CreatedSystemResponseDto,
      headers: LOCATION_HEADER,
      examples: CREATED_SYSTEM_EXAMPLES,
      description: 'The new system; `tools` is empty until a connection test succeeds.',
    },
    errors: [409],
  },
  getSystem: {
    summary: 'Get an MCP system with its tools',
    description:
      'All that is known of the system but its secret. Tools that the server no longer offers are not listed. With ' +
      '`If-None-Match` the answer is 304 while nothing has changed, a switched tool neither.',
    headers: [IF_NONE_MATCH],
    answer: {
      type: SystemResponseDto,
      headers: ETAG_HEADER,
      example: SYSTEM_EXAMPLE,
      description: 'The system and its tools.',
    },
    others: [
      {
        status: HttpStatus.NOT_MODIFIED,
        headers: ETAG_HEADER,
        description: 'The system and its tools are still what `If-None-Match` names.',
      },
    ],
    errors: [404],
  },
  listSystems: {
    summary: 'List the systems of an application version',
    description:
      'Systems of all types. Filter on `type` to pick MCP servers. An unknown version has no systems.',
    answer: {
      type: SystemListResponseDto,
      examples: SYSTEM_LIST_EXAMPLES,
      description: 'The systems, sorted by version and resource name.',
    },
  },
  updateSystem: {
    summary: 'Change an MCP system or its secret',
    description:
      'Extension of the contract. A field that is left out keeps its value, the client secret too. Changing `baseUrl` or ' +
      '`identityProviderUrl` needs the secret again. The resource name cannot be changed: other versions and workflows refer to it.',
    headers: [OPTIONAL_IF_MATCH],
    body: { type: UpdateSystemRequestDto, required: false, examples: UPDATE_SYSTEM_EXAMPLES },
    answer: {
      type: SystemResponseDto,
      headers: ETAG_HEADER,
      example: SYSTEM_EXAMPLE,
      description: 'The system as it is now.',
    },
    errors: [404, COMMITTED, 412, 428],
  },
  deleteSystem: {
    summary: 'Delete an MCP system',
    description:
      'Extension of the contract. Removes the system, its secret and its tools; its audit events stay.',
    headers: [OPTIONAL_IF_MATCH],
    answer: {
      type: DeletedSystemResponseDto,
      example: DELETED_SYSTEM_EXAMPLE,
      description: 'The system is gone.',
    },
    errors: [404, COMMITTED, 412, 428],
  },
  replaceClientSecret: {
    summary: 'Set or replace the secret of a system',
    description:
      'Extension of the contract, for systems of all types: exactly one of `clientSecret` and `privateKey` for a service account, or ' +
      '`apiKey` for an API key, or new values of its `headers`. Allowed in a committed version too: a secret expires, and builds of the version use that of its ' +
      'systems. It is stored encrypted and used from the next call on.',
    headers: [SYSTEM_IF_MATCH],
    body: { type: ReplaceSecretRequestDto, examples: REPLACE_SECRET_EXAMPLES },
    answer: {
      type: ReplacedSecretResponseDto,
      example: REPLACED_SECRET_EXAMPLE,
      description: 'The secret is replaced.',
    },
    errors: [404, { 409: 'The system has no such secret.' }, 412],
  },
  replaceClientCertificate: {
    summary: 'Set or replace the client certificate of a system and its key',
    description:
      'Extension of the contract, for systems of all types. Allowed in a committed version too, since certificates end. The key is ' +
      'stored encrypted. Both are used from the next call on.',
    headers: [SYSTEM_IF_MATCH],
    body: { type: ClientCertificateRequestDto, examples: REPLACE_CERTIFICATE_EXAMPLES },
    answer: {
      type: ReplacedSecretResponseDto,
      example: REPLACED_CERTIFICATE_EXAMPLE,
      description: 'Certificate and key are replaced.',
    },
    errors: [404, 412],
  },
});
