import { z } from 'zod';

/** Rule of keys: how a component is called in the answer. */
export const keyRule = z
  .string()
  .regex(/^(?!__proto__$)[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
  .describe('Name of the component in the answer, unique in its map.');

const text = (max: number) =>
  z.string().min(1, 'must not be empty').max(max, `must have at most ${max} characters`);
const secret = z.string().min(1, 'must not be empty').max(8_192, 'must have at most 8192 characters');
/** A path that begins with a slash, without query and fragment. */
const pathRule = z
  .string()
  .regex(/^\/[A-Za-z0-9._~!$&'()*+,;=:@%/-]{0,1023}$/, 'must be a path that starts with / and has no query');
const labels = z.array(text(64)).max(64, 'must have at most 64 elements');

const ca = z
  .string()
  .max(262_144, 'must have at most 262144 characters')
  // No pattern, which the published schema would hold against "${file:…}".
  .refine((text) => text.includes('-----BEGIN CERTIFICATE-----'), 'must be certificates in PEM form')
  .optional()
  .describe('Certificates (PEM) that are trusted besides those of the system: ${file:/path/ca.pem}.');
const tls = z
  .boolean()
  .optional()
  .describe('Connect with TLS and check the certificate; the schemes that end in s say it, too.');
const expectedBrokers = z
  .int()
  .min(1)
  .max(10_000)
  .optional()
  .describe('Brokers that the cluster should have; fewer are an issue.');
const headers = z
  .record(z.string().regex(/^[A-Za-z0-9-]{1,128}$/, 'must be the name of a header'), secret)
  .optional()
  .describe('Headers that the requests carry. Values are secrets.');
const query = z
  .record(text(128), z.string().max(2_048, 'must have at most 2048 characters'))
  .optional()
  .describe('Query parameters of the requests. Values are secrets.');

const common = {
  key: keyRule,
  endpoint: z
    .string()
    .describe(
      'Where it is: scheme, host, port and path. A name and password in it are taken out at once; a query is refused.',
    ),
  name: text(255).optional().describe('For people; what the component says of itself without it.'),
  map: z
    .enum(['services', 'infrastructure', 'externalIntegrations'], 'must be a map of the answer')
    .optional()
    .describe('Part of the answer it belongs to; that of its kind without it.'),
  username: secret.optional().describe('Instead of the one in the address. Access key of an s3 component.'),
  password: secret.optional().describe('Instead of the one in the address. Secret key of an s3 component.'),
  token: secret.optional().describe('Bearer token, instead of name and password.'),
  version: text(64).optional().describe('Counts where the component does not say its version.'),
  capabilities: labels.default([]).describe('Count where the component does not say any.'),
  tags: labels.default([]),
  timeoutMs: z.int().min(50).max(60_000).optional().describe('Milliseconds for its check.'),
};

/** A component of one kind. Options have no meaning but the one written here; probes read them under these names. */
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

/** One component of the configuration file; every other source that declares components checks them with it, too. */
export const componentSchema = z.discriminatedUnion(
  'kind',
  [
    ofKind('http', 'A service with a health endpoint.', {
      healthPath: pathRule
        .optional()
        .describe('Path of its health check, appended to the endpoint; the usual ones are tried without it.'),
      infoPath: pathRule.optional().describe('Path that tells name and version, appended to the endpoint.'),
      headers,
      query,
      ca,
    }),
    ofKind('mysql', 'A MySQL or MariaDB server.', database),
    ofKind('postgresql', 'A PostgreSQL server.', database),
    ofKind('mongodb', 'A MongoDB server or cluster: mongodb://one:27017,two:27017.', {
      ...database,
      authSource: text(64).optional().describe('Database that knows the user; admin without it.'),
    }),
    ofKind('redis', 'A Redis or Valkey server.', database),
    ofKind('kafka', 'A Kafka cluster: kafka://one:9092,two:9092.', {
      ...database,
      mechanism: z
        .enum(['plain', 'scram-sha-256', 'scram-sha-512'], 'must be plain, scram-sha-256 or scram-sha-512')
        .optional()
        .describe('SASL mechanism for name and password; plain without it.'),
      expectedBrokers,
    }),
    ofKind(
      'rabbitmq',
      'A RabbitMQ cluster by its management interface (http); a port of AMQP (amqp) is only connected to.',
      {
        expectedBrokers,
        ca,
      },
    ),
    ofKind(
      'nats',
      'A NATS cluster by its monitoring port (http); a client port (nats) is only connected to.',
      {
        expectedBrokers,
        ca,
      },
    ),
    ofKind('elasticsearch', 'An Elasticsearch or OpenSearch cluster.', { headers, ca }),
    ofKind('s3', 'Storage with the S3 interface.', {
      region: text(64).optional().describe('us-east-1 without it.'),
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
        .describe('A refusal for want of a token (401) shows that the server works.'),
    }),
  ],
  { error: 'must have a kind of the format' },
);

/** The configuration file, JSON or YAML. */
const platformFileSchema = z
  .strictObject({
    $schema: z.string().max(2_048).optional().describe('For editors; ignored.'),
    platform: z.strictObject({ components: z.array(componentSchema) }),
  })
  .meta({ description: 'Components of the platform: DISCOVERY_CONFIG_FILE.' });

/** A component as the file and the environment declare it. */
export type DeclaredComponent = z.output<typeof componentSchema>;

/** Its name in `docs/schemas/`. */
export const PLATFORM_SCHEMA_FILE = 'platform.schema.json';

/** The JSON Schema (2020-12) of the configuration file, made of the one that the service checks with. */
export function platformSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(platformFileSchema, { io: 'input' });
  return { $schema, $id: 'urn:svc-platform:schema:platform:1', title: 'Platform components', ...rest };
}
