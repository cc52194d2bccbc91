import { z } from 'zod';
import { AuthorizationType, SystemType } from '../../systems/model/system.types.js';
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
  }),
});

/** How a system is reached. There is no place for a secret: a package is a file that is kept and passed on. */
const authorizationSchema = z
  .discriminatedUnion('type', [noAuth, serviceAccount])
  .default({ type: AuthorizationType.NoAuth })
  .meta({
    id: 'Authorization',
    description: 'As in the body of "create an MCP system", without clientSecret.',
  });

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
};

/** `systems/*.json` of a package. */
export const systemSchema = z
  .discriminatedUnion('type', [
    z.strictObject({ ...common, type: z.literal(SystemType.Mcp), baseUrl: urlRule }),
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
