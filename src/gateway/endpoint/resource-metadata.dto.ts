import { Answer, Shows } from '../../platform/openapi/answer-fields.decorators.js';

/** Metadata of a protected resource (RFC 9728, section 2). */
export class ResourceMetadataDto extends Answer({
  resource: Shows.value('Address of the endpoint.', 'https://svc.example.com/mcp/app/order-service'),
  authorization_servers: Shows.texts('Issuers whose access tokens the endpoint accepts.', [
    'https://sso.example.com/realms/company',
  ]),
  bearer_methods_supported: Shows.texts('How access tokens are sent.', ['header']),
  scopes_supported: Shows.texts('Scopes that permit the use of the endpoint.', ['tool:use']),
}) {}
