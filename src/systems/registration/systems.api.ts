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
      'Changes with each change of the response. Send it as `If-None-Match` of the next request, or as `If-Match` of a change.',
    required: true,
    schema: { type: 'string', pattern: '^W/"[\\w-]{43}"$' },
  },
} as const;

/** The request header `If-None-Match` (RFC 9110, section 13.1.2). */
const IF_NONE_MATCH = {
  name: 'If-None-Match',
  required: false,
  description: 'One or more `ETag` values of earlier responses.',
  schema: { type: 'string', maxLength: HEADER_MAX_LENGTH },
} as const;

const COMMITTED = { 409: 'The application version is committed and can no longer be changed.' };

export const SystemsApi = apiRoutes([403], {
  createSystem: {
    summary: 'Create an MCP system',
    description:
      'Registers an MCP server as a system of an application version. Does not call the server: test the connection to fill ' +
      '`tools`. The client secret is stored encrypted and never returned. An invalid `resourceName` is a 400 with the message ' +
      '`Name can only contain letters, numbers and the following special characters [] () . _ -`; `details` of a 400 lists ' +
      'all invalid fields. 409 when the name is taken or the version is committed.',
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
      'Returns the system without its secret. Omits tools that the server no longer lists. With `If-None-Match` returns 304 while ' +
      'the system and its tools, including their flags, are unchanged.',
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
        description: 'The system and its tools have not changed.',
      },
    ],
    errors: [404],
  },
  listSystems: {
    summary: 'List the systems of an application version',
    description:
      'Lists systems of all types. Filter by `type` to select MCP servers. The list of an unknown version is empty.',
    answer: {
      type: SystemListResponseDto,
      examples: SYSTEM_LIST_EXAMPLES,
      description: 'The systems, sorted by version and resource name.',
    },
  },
  updateSystem: {
    summary: 'Change an MCP system or its secret',
    description:
      'Extension of the contract. Absent fields keep their values, including the client secret. Changing `baseUrl` or ' +
      '`identityProviderUrl` requires the secret again. The resource name cannot be changed, because other versions and workflows refer to it.',
    headers: [OPTIONAL_IF_MATCH],
    body: { type: UpdateSystemRequestDto, required: false, examples: UPDATE_SYSTEM_EXAMPLES },
    answer: {
      type: SystemResponseDto,
      headers: ETAG_HEADER,
      example: SYSTEM_EXAMPLE,
      description: 'The changed system.',
    },
    errors: [404, COMMITTED, 412, 428],
  },
  deleteSystem: {
    summary: 'Delete an MCP system',
    description:
      'Extension of the contract. Deletes the system, its secret and its tools; keeps its audit events.',
    headers: [OPTIONAL_IF_MATCH],
    answer: {
      type: DeletedSystemResponseDto,
      example: DELETED_SYSTEM_EXAMPLE,
      description: 'The system is deleted.',
    },
    errors: [404, COMMITTED, 412, 428],
  },
  replaceClientSecret: {
    summary: 'Set or replace the secret of a system',
    description:
      'Extension of the contract, for systems of all types. Send exactly one of `clientSecret` or `privateKey` for a service account, ' +
      '`apiKey` for an API key, or new values of its `headers`. Also allowed in a committed version, because secrets expire and builds use the secrets of their ' +
      'version. The secret is stored encrypted and takes effect with the next call.',
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
      'Extension of the contract, for systems of all types. Also allowed in a committed version, because certificates expire. The key is ' +
      'stored encrypted. Both take effect with the next call.',
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
