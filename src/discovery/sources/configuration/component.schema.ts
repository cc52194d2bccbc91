import { z } from 'zod';

/** Rule for keys, the names of components in the response. */
export const keyRule = z
  .string()
  .regex(/^(?!__proto__$)[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
  .describe('Name of the component in the response, unique in its map.');

const text = (max: number) =>
  z.string().min(1, 'must not be empty').max(max, `must have at most ${max} characters`);
const secret = z.string().min(1, 'must not be empty').max(8_192, 'must have at most 8192 characters');
/** Rule for paths that begin with a slash, without query and fragment. */
const pathRule = z
  .string()
  .regex(/^\/[A-Za-z0-9._~!$&'()*+,;=:@%/-]{0,1023}$/, 'must be a path that starts with / and has no query');
const labels = z.array(text(64)).max(64, 'must have at most 64 elements');

const ca = z
  .string()
  .max(262_144, 'must have at most 262144 characters')
  // Not a pattern, since the published schema would apply it to "${file:…}".
  .refine((text) => text.includes('-----BEGIN CERTIFICATE-----'), 'must be certificates in PEM form')
  .optional()
  .describe('Certificates (PEM) to trust in addition to those of the system: ${file:/path/ca.pem}.');
const tls = z
  .boolean()
  .optional()
  .describe('Connect with TLS and verify the certificate; implied by schemes that end in s.');
const expectedBrokers = z
  .int()
  .min(1)
  .max(10_000)
  .optional()
  .describe('Brokers that the cluster should have; fewer are an issue.');
const headers = z
  .record(z.string().regex(/^[A-Za-z0-9-]{1,128}$/, 'must be the name of a header'), secret)
  .optional()
  .describe('Headers of the requests. Values are secrets.');
const query = z
  .record(text(128), z.string().max(2_048, 'must have at most 2048 characters'))
  .optional()
  .describe('Query parameters of the requests. Values are secrets.');

const common = {
  key: keyRule,
  endpoint: z
    .string()
    .describe(
      'Address: scheme, host, port and path. A name and password in it are never shown; a query is rejected.',
    ),
  name: text(255).optional().describe('Display name. Default: the name that the component reports.'),
  map: z
    .enum(
      ['services', 'infrastructure', 'externalIntegrations'],
      'must be services, infrastructure or externalIntegrations',
    )
    .optional()
    .describe('Map of the response. Default: that of its kind.'),
  username: secret.optional().describe('Replaces the one in the address. Access key of an s3 component.'),
  password: secret.optional().describe('Replaces the one in the address. Secret key of an s3 component.'),
  token: secret.optional().describe('Bearer token, used instead of name and password.'),
  version: text(64).optional().describe('Used if the component does not report its version.'),
  capabilities: labels.default([]).describe('Used if the component does not report any.'),
  tags: labels.default([]),
  timeoutMs: z.int().min(50).max(60_000).optional().describe('Timeout of its check in milliseconds.'),
};

/** Returns the schema of a component of a kind. Probes read the options under these names. */
function ofKind<Kind extends string, Options extends z.ZodRawShape>(
  kind: Kind,
  description: string,
  options: Options,
) {
  return z
    .strictObject({
      kind: z.literal(kind),
      ...common,
      options: z.strictObject(options).prefault({} as never),
    })
    .meta({ id: `component-${kind}`, description });
}

const database = { tls, ca };

/** Schema of a component in the configuration file. Other sources that declare components use it too. */
export const componentSchema = z.discriminatedUnion(
  'kind',
  [
    ofKind('http', 'A service with a health endpoint.', {
      healthPath: pathRule
        .optional()
        .describe('Path of its health check, appended to the endpoint. Default: common paths are tried.'),
      infoPath: pathRule
        .optional()
        .describe('Path of a document with name and version, appended to the endpoint.'),
      headers,
      query,
      ca,
    }),
    ofKind('mysql', 'A MySQL or MariaDB server.', database),
    ofKind('postgresql', 'A PostgreSQL server.', database),
    ofKind('mongodb', 'A MongoDB server or cluster: mongodb://one:27017,two:27017.', {
      ...database,
      authSource: text(64).optional().describe('Authentication database. Default: admin.'),
    }),
    ofKind('redis', 'A Redis or Valkey server.', database),
    ofKind('kafka', 'A Kafka cluster: kafka://one:9092,two:9092.', {
      ...database,
      mechanism: z
        .enum(['plain', 'scram-sha-256', 'scram-sha-512'], 'must be plain, scram-sha-256 or scram-sha-512')
        .optional()
        .describe('SASL mechanism for name and password. Default: plain.'),
      expectedBrokers,
    }),
    ofKind(
      'rabbitmq',
      'A RabbitMQ cluster by its management API (http); with an AMQP port (amqp), only the connection is checked.',
      {
        expectedBrokers,
        ca,
      },
    ),
    ofKind(
      'nats',
      'A NATS cluster by its monitoring port (http); with a client port (nats), only the connection is checked.',
      {
        expectedBrokers,
        ca,
      },
    ),
    ofKind('elasticsearch', 'An Elasticsearch or OpenSearch cluster.', { headers, ca }),
    ofKind('s3', 'Storage with the S3 interface.', {
      region: text(64).optional().describe('Region. Default: us-east-1.'),
      ca,
    }),
    ofKind('oidc', 'An OpenID Connect issuer; the endpoint is the issuer.', { ca }),
    ofKind('token-endpoint', 'An OAuth token endpoint.', { query, ca }),
    ofKind('smtp', 'A mail server.', { ca }),
    ofKind('mcp', 'An MCP server over Streamable HTTP.', {
      headers,
      query,
      ca,
      authorizationRequired: z
        .boolean()
        .optional()
        .describe('Treat a rejection for lack of a token (401) as healthy.'),
    }),
  ],
  { error: 'must be a known kind' },
);

/** The configuration file, JSON or YAML. */
const platformFileSchema = z
  .strictObject({
    $schema: z.string().max(2_048).optional().describe('For editors; ignored.'),
    platform: z.strictObject({ components: z.array(componentSchema) }),
  })
  .meta({ description: 'Components of the platform: DISCOVERY_CONFIG_FILE.' });

/** A component as declared by the file or the environment. */
export type DeclaredComponent = z.output<typeof componentSchema>;

/** Name of the published schema in `docs/schemas/`. */
export const PLATFORM_SCHEMA_FILE = 'platform.schema.json';

/** Returns the JSON Schema (2020-12) of the configuration file, derived from the schema that the service checks with. */
export function platformSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(platformFileSchema, { io: 'input' });
  return { $schema, $id: 'urn:svc-platform:schema:platform:1', title: 'Platform components', ...rest };
}
