import { apiRoutes } from '../../../common/http/api-routes.js';
import { SYSTEM_IF_MATCH } from '../../../common/http/conditional-requests.js';
import { ReplacedSecretResponseDto, ReplaceSecretRequestDto } from './client-secret.dto.js';
import { ClientCertificateRequestDto } from '../model/tls.request.dto.js';
import {
  REPLACE_CERTIFICATE_EXAMPLES,
  REPLACE_SECRET_EXAMPLES,
  REPLACED_SECRET_EXAMPLE,
} from '../model/system.examples.js';

/** What the OpenAPI document says of the routes beside it. */
export const SystemSecretsApi = apiRoutes([], {
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
    errors: [403, 404, { 409: 'The system has no such secret.' }, 412],
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
      example: { ...REPLACED_SECRET_EXAMPLE, message: 'Client certificate replaced.' },
      description: 'Certificate and key are replaced.',
    },
    errors: [403, 404, 412],
  },
});
