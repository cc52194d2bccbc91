import { z } from 'zod';
import { CERTIFICATES_MAX_LENGTH } from '../../../platform/tls/certificates.js';
import {
  isApiKeyHeader,
  isScheme,
  isScope,
  SCOPE_MAX_LENGTH,
  tokenParametersRule,
  MAX_HEADERS,
  TIMEOUT_MAX_MS,
} from '../../../platform/validation/credential-rules.js';
import { AuthorizationType, SystemType } from '../../../systems/model/system.types.js';
import { fileRule, resourceNameRule, textRule, urlRule } from './rules.js';

const noAuth = z.strictObject({ type: z.literal(AuthorizationType.NoAuth) });
const serviceAccount = z.strictObject({
  type: z.literal(AuthorizationType.ServiceAccount),
  configuration: z.strictObject({
    clientId: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
      .describe('OAuth 2.0 client id.'),
    identityProviderUrl: urlRule.describe('OAuth 2.0 token endpoint.'),
    scope: z
      .string()
      .max(SCOPE_MAX_LENGTH)
      .refine(isScope, 'must be names separated by single spaces')
      .optional()
      .describe('Scope of the token request.'),
    tokenParameters: z
      .record(z.string(), z.string())
      .superRefine((parameters, context) => {
        const message = tokenParametersRule(parameters);
        if (message !== undefined) {
          context.addIssue({ code: 'custom', message });
        }
      })
      .optional()
      .describe('Further fields of the token request, such as audience. Must not contain secrets.'),
  }),
});

const apiKey = z.strictObject({
  type: z.literal(AuthorizationType.ApiKey),
  configuration: z
    .strictObject({
      headerName: z
        .string()
        .max(64)
        .refine(isApiKeyHeader, 'must be the name of a header that can hold a key')
        .optional()
        .describe('Header for the key. Default: Authorization.'),
      scheme: z
        .string()
        .max(64)
        .refine(isScheme, 'must be the name of an authentication scheme, or null')
        .nullable()
        .optional()
        .describe('Scheme before the key. Default: Bearer for Authorization, none for other headers.'),
    })
    .default({}),
});

/** Authorization of a system. It has no member for secrets, because packages are files that are stored and shared. */
const authorizationSchema = z
  .discriminatedUnion('type', [noAuth, serviceAccount, apiKey])
  .default({ type: AuthorizationType.NoAuth })
  .meta({
    id: 'Authorization',
    description: 'As in the body of "create an MCP system", without clientSecret, privateKey and apiKey.',
  });

/** Certificate authorities that a system trusts. Client certificates are excluded, because they are useless without their key. */
const tlsSchema = z
  .strictObject({
    caCertificates: z
      .string()
      .min(1)
      .max(CERTIFICATES_MAX_LENGTH)
      .describe('Certificates (PEM) of the trusted authorities, which replace the built-in ones.'),
  })
  .nullable()
  .optional()
  .describe(
    'Custom certificate authorities; null for the built-in ones. If absent, the stored value is kept.',
  );

/** Names of static headers, whose values are never part of a package. */
const headersSchema = z
  .array(z.string())
  .max(MAX_HEADERS)
  .optional()
  .describe('Names of static headers; set their values like secrets. If absent, the stored value is kept.');

const timeoutSchema = z
  .int()
  .min(1)
  .max(TIMEOUT_MAX_MS)
  .nullable()
  .optional()
  .describe(
    'Timeout of a tool call in milliseconds; null for that of the deployment. If absent, the stored value is kept.',
  );

const common = {
  $schema: z.string().max(2_048).optional().describe('For editors; ignored.'),
  file: fileRule('systems', 'json')
    .optional()
    .describe('Path in the folder. Default: systems/RESOURCE_NAME.json.'),
  resourceName: resourceNameRule.describe('Name of the resource, unique in the package, ignoring case.'),
  name: textRule(1, 255).describe('Display name.'),
  description: textRule(0, 2_000).default(''),
  authorization: authorizationSchema,
  tls: tlsSchema,
  headers: headersSchema,
};

/** `systems/*.json` of a package. */
export const systemSchema = z
  .discriminatedUnion('type', [
    z.strictObject({
      ...common,
      type: z.literal(SystemType.Mcp),
      baseUrl: urlRule,
      timeoutMs: timeoutSchema,
    }),
    z.strictObject({ ...common, type: z.literal(SystemType.Rest), baseUrl: urlRule }),
    z.strictObject({
      ...common,
      type: z.literal(SystemType.NoSqlDb),
      baseUrl: urlRule.nullable().default(null),
    }),
  ])
  .meta({
    id: 'System',
    description: 'A system: systems/*.json. Tools of MCP systems are never part of it.',
  });
