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
      .refine(isScope, 'must be names with one space between them')
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
      .describe('Further fields of the token request, such as audience. No place for secrets.'),
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
        .describe('Header that the key is sent in; Authorization without it.'),
      scheme: z
        .string()
        .max(64)
        .refine(isScheme, 'must be the name of an authentication scheme, or null')
        .nullable()
        .optional()
        .describe('Word before the key. Without it Bearer for Authorization, and none for other headers.'),
    })
    .default({}),
});

/** How a system is reached. There is no place for a secret: a package is a file that is kept and passed on. */
const authorizationSchema = z
  .discriminatedUnion('type', [noAuth, serviceAccount, apiKey])
  .default({ type: AuthorizationType.NoAuth })
  .meta({
    id: 'Authorization',
    description: 'As in the body of "create an MCP system", without clientSecret, privateKey and apiKey.',
  });

/** Whom a system trusts. There is no place for a client certificate either, which is of use with its key only. */
const tlsSchema = z
  .strictObject({
    caCertificates: z
      .string()
      .min(1)
      .max(CERTIFICATES_MAX_LENGTH)
      .describe('Certificates (PEM) of the authorities that are trusted, in place of the built-in ones.'),
  })
  .nullable()
  .optional()
  .describe('Authorities of its own; null: the built-in ones. What is stored stays without it.');

/** The values never come with a package. */
const headersSchema = z
  .array(z.string())
  .max(MAX_HEADERS)
  .optional()
  .describe('Names of static headers; their values are set as a secret is. What is stored stays without it.');

const timeoutSchema = z
  .int()
  .min(1)
  .max(TIMEOUT_MAX_MS)
  .nullable()
  .optional()
  .describe(
    'Deadline of one tool call in milliseconds; null: that of the deployment. What is stored stays without it.',
  );

const common = {
  $schema: z.string().max(2_048).optional().describe('For editors; ignored.'),
  file: fileRule('systems', 'json')
    .optional()
    .describe('Where it stands in the folder; systems/RESOURCE_NAME.json without.'),
  resourceName: resourceNameRule.describe(
    'Name of the resource, unique in the package without regard to case.',
  ),
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
