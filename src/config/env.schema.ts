import { z } from 'zod';
import { agentSettings } from './agent-settings.js';
import { buildSettings } from './build-settings.js';
import { consoleSettings } from './console-settings.js';
import { databaseSettings } from './database-settings.js';
import { isDatabaseServerUrl } from './database-url.js';
import { discoverySettings } from './discovery-settings.js';
import { evaluationSettings } from './evaluation-settings.js';
import { jobSettings } from './job-settings.js';
import { mcpCallSettings } from './mcp-call-settings.js';
import { outboundSettings } from './outbound-settings.js';
import { packageSettings } from './package-settings.js';
import { permissionRules } from './permission-rules.js';
import { processDefinitionSettings } from './process-definition-settings.js';
import { processSettings } from './process-settings.js';
import { quotaSettings } from './quota-settings.js';
import { redisSettings } from './redis-settings.js';
import { restEndpointSettings } from './rest-endpoint-settings.js';
import { flag, httpUrl, integer, list, MOST_PARSED_BYTES, origin } from './setting-rules.js';
import { tokenSettings } from './token-settings.js';
import { traceSettings } from './trace-settings.js';
import { workflowSettings } from './workflow-settings.js';

const MINUTE_MS = 60_000;
const SERVER_RULE =
  'must name user:password@host:port/database, special characters of user and password percent-encoded';

const secretsKeys = z
  .string()
  .transform((text) =>
    text.split(',').map((item) => {
      const [id = '', key = ''] = item.trim().split(':');
      return { id, key: Buffer.from(key, 'base64') };
    }),
  )
  .refine(
    (keys) => keys.every(({ id, key }) => /^[A-Za-z0-9_-]{1,32}$/.test(id) && key.length === 32),
    'must be a list of id:key, the key 32 bytes in base64',
  )
  .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length, 'must not repeat a key id')
  .default([]);

/**
 * Every setting of the service: its name in the environment, its rule, its default and one line of meaning.
 * `.env.example` is written from this table, so a variable exists here or nowhere.
 */
export const envSchema = z.object({
  NODE_ENV: z
    .enum(['development', 'test', 'production'], 'must be development, test or production')
    .default('development')
    .describe('Kind of deployment. Evaluation mode refuses production.'),
  HOST: z
    .string()
    .default('0.0.0.0')
    .describe('Address to listen on. Evaluation mode always listens on 127.0.0.1.'),
  PORT: integer(0, 65_535, 3_000).describe('Port to listen on; 0 takes a free one.'),
  LOG_LEVEL: z
    .enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
      'must be fatal, error, warn, info, debug or silent',
    )
    .default('info')
    .describe('Least severe level that is logged.'),
  DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .describe('Folder of the embedded database and of the evaluation socket file.'),

  DATABASE_URL: z
    .string()
    .regex(/^(mysql|mariadb):\/\/|^sqlite:/, {
      message: 'must start with mysql://, mariadb:// or sqlite:',
      abort: true,
    })
    .refine((value) => value.startsWith('sqlite:') || isDatabaseServerUrl(value), SERVER_RULE)
    .optional()
    .describe('mysql:// or mariadb:// with user:password@host:3306/database; required in production.'),
  DATABASE_TLS: flag(false).describe(
    'Encrypt the database connection and check the certificate of the server.',
  ),
  DATABASE_TLS_CA_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file of the authority that signed it; the built-in list without it.'),
  ...databaseSettings,
  ...redisSettings,
  MIGRATIONS_RUN: flag(true).describe('Run pending migrations at start, one replica at a time.'),
  MIGRATIONS_LOCK_TIMEOUT_SECONDS: integer(1, 3_600, 120).describe(
    'Seconds to wait for another replica that is migrating.',
  ),

  OIDC_ISSUER: httpUrl
    .optional()
    .describe(
      'Issuer of the bearer tokens; its discovery document names the keys. https unless on this machine; required in production.',
    ),
  OIDC_AUDIENCE: z
    .string()
    .min(1)
    .optional()
    .describe('Value the aud claim must contain. Required in production.'),
  OIDC_ALGORITHMS: list(['RS256', 'PS256', 'ES256'])
    .refine(
      (values) => values.length > 0 && values.every((value) => /^(RS|PS|ES)(256|384|512)$/.test(value)),
      'must list RS, PS or ES algorithms',
    )
    .describe('Signature algorithms accepted, comma-separated.'),
  OIDC_TOKEN_TYPES: list(['at+jwt', 'jwt', 'none'])
    .refine((values) => values.length > 0, 'must list at least one type')
    .describe(
      'Values of the typ header accepted, none for an absent one; at+jwt alone (RFC 9068) is the strictest.',
    ),
  OIDC_AUTHORIZED_PARTIES: list().describe(
    'Clients (azp, client_id, cid or appid) whose tokens are accepted; empty for any.',
  ),
  OIDC_CLOCK_TOLERANCE_SECONDS: integer(0, 300, 30).describe(
    'Clock difference accepted for exp, nbf and iat.',
  ),
  OIDC_TIMEOUT_MS: integer(100, MINUTE_MS, 3_000).describe('Milliseconds to wait for the issuer.'),
  OIDC_JWKS_COOLDOWN_SECONDS: integer(1, 3_600, 5).describe(
    'Least time between two key requests caused by unknown key ids.',
  ),
  OIDC_JWKS_MAX_AGE_SECONDS: integer(1, 86_400, 30).describe(
    'Age after which the keys are asked for again; tokens of a key that the issuer withdrew are refused this much later, and OIDC_TIMEOUT_MS, at the latest.',
  ),
  OIDC_JWKS_STALE_SECONDS: integer(0, 604_800, 86_400).describe(
    'How long the last good keys serve while the issuer is down.',
  ),
  ...tokenSettings,
  TOKEN_MAX_BYTES: integer(512, 65_536, 8_192).describe('Longest bearer token accepted.'),
  PERMISSION_RULES: permissionRules.describe(
    'JSON: permission -> rules { claim: name or path, has: value }; any matching rule grants it, also for some applications only (docs/operations.md).',
  ),

  SECRETS_KEYS: secretsKeys.describe(
    'id:key list, keys are 32 bytes in base64; the first one encrypts. Required in production.',
  ),

  HTTP_BODY_LIMIT_BYTES: integer(1_024, 67_108_864, 262_144).describe('Largest request body.'),
  HTTP_BODY_MAX_VALUES: integer(1_000, 10_000_000, 32_000).describe(
    'Most values of a request body, those inside of others included; packages have limits of their own.',
  ),
  HTTP_CALLER_BODY_BYTES: integer(0, 1_073_741_824, 262_144).describe(
    'Bytes of request bodies above 16 KiB of one caller that are worked on at the same time; others wait; 0 is no limit.',
  ),
  HTTP_CALLER_BODY_VALUES: integer(0, 10_000_000, 32_000).describe(
    'Values of request bodies of more than 2,048 values of one caller that are worked on at the same time; others wait; 0 is no limit.',
  ),
  HTTP_CALLER_BODY_WAIT_MS: integer(100, 10 * MINUTE_MS, 10_000).describe(
    'Milliseconds for which a request body waits for others of its caller, for each of the two above, then it is answered 429.',
  ),
  HTTP_CALLER_REQUESTS: integer(0, 1_000_000, 100).describe(
    'Requests of one caller that are under way in this replica, or with REDIS_URL in all of them, beside those that follow instances; others are answered 429; 0 is no limit.',
  ),
  HTTP_CALLER_AT_WORK: integer(0, 1_000_000, 8).describe(
    'Requests of one caller that this replica works on at the same time, best below DATABASE_POOL_SIZE; others of this caller wait for them; 0 is no limit.',
  ),
  HTTP_REFUSAL_DELAY_MS: integer(0, 10_000, 250).describe(
    'Milliseconds after which the 429 of a rate limit or of HTTP_CALLER_REQUESTS is answered, or up to twice as long, so that who asks again at once cannot fill the time of others.',
  ),
  HTTP_REQUIRE_IF_MATCH: flag(false).describe(
    'Whether changing or deleting a system and choosing the active build need `If-Match`, the ETag of what was read: 428 without.',
  ),
  HTTP_HEADERS_TIMEOUT_MS: integer(1_000, MINUTE_MS, 10_000).describe(
    'Milliseconds in which the request headers must arrive.',
  ),
  HTTP_REQUEST_TIMEOUT_MS: integer(1_000, 10 * MINUTE_MS, 30_000).describe(
    'Milliseconds in which a whole request must arrive.',
  ),
  HTTP_KEEP_ALIVE_TIMEOUT_MS: integer(1_000, 10 * MINUTE_MS, 65_000).describe(
    'Idle time of a kept connection; above that of the load balancer.',
  ),
  HTTP_MAX_CONNECTIONS: integer(1, 1_000_000, 10_000).describe('Open client connections at the most.'),
  HTTP_ADDRESS_CONNECTIONS: integer(0, 1_000_000, 1_000).describe(
    'Open connections of one address; more are ended at once. Not used with TRUST_PROXY, since all of them are of the proxy then; 0 is no limit.',
  ),
  PUBLIC_ORIGIN: origin()
    .optional()
    .describe(
      'Origin by which callers know this service, such as https://svc.example.com; without it answers name the address that it listens on.',
    ),
  CORS_ORIGINS: list().describe('Exact origins of front ends, comma-separated.'),
  TRUST_PROXY: integer(0, 10, 0).describe(
    'Number of reverse proxies in front whose X-Forwarded-For is believed.',
  ),
  METRICS_PORT: integer(0, 65_535, 0).describe(
    'Own port for /metrics, and for /livez and /readyz too, answered by a thread of its own; 0 serves /metrics on PORT.',
  ),
  LIVENESS_MAX_STALL_MS: integer(100, 10 * MINUTE_MS, 30_000).describe(
    'Milliseconds for which the main thread may be busy at a stretch before /livez on METRICS_PORT fails.',
  ),
  SHUTDOWN_DELAY_MS: integer(0, MINUTE_MS, 5_000).describe(
    'Milliseconds between failing /readyz and answering new requests 503; until then everything is served.',
  ),
  SHUTDOWN_TIMEOUT_MS: integer(1_000, 10 * MINUTE_MS, 25_000).describe('Hard limit of a graceful stop.'),
  READINESS_TIMEOUT_MS: integer(100, MINUTE_MS, 2_000).describe('Deadline of the database check in /readyz.'),

  RATE_LIMIT_ADDRESS_PER_MINUTE: integer(0, 10_000_000, 6_000).describe(
    'Requests a minute from one address, before authentication; 0 is no limit.',
  ),
  RATE_LIMIT_PRINCIPAL_PER_MINUTE: integer(0, 10_000_000, 3_000).describe(
    'Requests a minute of one caller, after authentication; 0 is no limit.',
  ),
  RATE_LIMIT_CONNECTION_TEST_PER_MINUTE: integer(0, 1_000_000, 60).describe(
    'Connection tests a minute of one caller; 0 is no limit.',
  ),

  EGRESS_ALLOW: list().describe(
    'Private or loopback targets the service may call: CIDR, address, host name, each with optional :port; APP=target is for the systems of this application alone.',
  ),
  EGRESS_MAX_REDIRECTS: integer(0, 5, 2).describe('Same-origin redirects followed per request.'),
  EGRESS_CONNECT_TIMEOUT_MS: integer(100, MINUTE_MS, 5_000).describe(
    'Milliseconds to open a connection to an outside party.',
  ),
  ...outboundSettings,
  MCP_TEST_TIMEOUT_MS: integer(500, 5 * MINUTE_MS, 15_000).describe('Deadline of a whole connection test.'),
  MCP_SYNC_TIMEOUT_MS: integer(1, 5 * MINUTE_MS, 15_000).describe(
    'Time for storing the tools of all systems that one test covers; what is left waits for the next test.',
  ),
  MCP_MAX_RESPONSE_BYTES: integer(1_024, MOST_PARSED_BYTES, 2_097_152).describe(
    'Largest decoded answer of an MCP server.',
  ),
  MCP_MAX_TOTAL_BYTES: integer(1_024, 268_435_456, 8_388_608).describe(
    'Decoded bytes of one whole connection test.',
  ),
  MCP_MAX_PAGES: integer(1, 1_000, 64).describe('Pages of tools/list at the most.'),
  MCP_MAX_TOOLS: integer(1, 10_000, 2_000).describe('Tools of one system at the most.'),
  MCP_MAX_SCHEMA_BYTES: integer(256, 65_000, 60_000).describe('Size of one tool schema as JSON.'),
  MCP_MAX_SCHEMA_DEPTH: integer(2, 100, 20).describe('Nesting of one tool schema.'),
  MCP_MAX_SCHEMA_NODES: integer(10, 100_000, 2_000).describe('Objects and arrays in one tool schema.'),
  MCP_WORKER_MEMORY_MB: integer(32, 4_096, 128).describe(
    'Heap of the worker thread that talks to MCP servers.',
  ),
  MCP_WORKER_NICENESS: integer(0, 19, 19).describe(
    'How far that thread and its helpers stand back for callers (nice, Linux only): 19 on a machine of its own, less beside other busy processes.',
  ),
  TOKEN_ENDPOINT_MAX_BYTES: integer(1_024, 1_048_576, 65_536).describe(
    'Largest answer of an OAuth token endpoint.',
  ),
  MCP_REFRESH_MINUTES: integer(0, 10_080, 0).describe(
    'Minutes after which the tools of a tested MCP system are read again, as by a connection test; also soon after its server says that they have changed. 0 leaves that to connection tests.',
  ),
  TOOL_CHANGE_POLICY: z
    .enum(
      ['review-changes', 'review-writes', 'review', 'accept'],
      'must be review-changes, review-writes, review or accept',
    )
    .default('review-changes')
    .describe(
      'Tools that are disabled until somebody enables them. review-changes: new and changed ones, but not the first list of a server; review-writes: of that list those without readOnlyHint, too; review: the whole first list, too; accept: none.',
    ),
  TOOL_DECISIONS_KEPT: integer(1, 1_000, 20).describe(
    'Definitions of each tool that are remembered with what the rules of synchronisation decided, besides those that a version has; what persons decided is kept for ever.',
  ),

  ...mcpCallSettings,
  ...buildSettings,

  ...discoverySettings,
  ...jobSettings,
  ...packageSettings,
  ...processDefinitionSettings,
  ...processSettings,
  ...quotaSettings,
  ...workflowSettings,
  ...agentSettings,
  ...restEndpointSettings,

  ...traceSettings,

  AUDIT_DENIALS_PER_MINUTE: integer(1, 100_000, 60).describe(
    'Refusals to one caller (of calls, and of libraries) that are put into the audit log in a minute; the request log has every refused call.',
  ),
  AUDIT_DETAILS_MAX_BYTES: integer(4_096, 1_048_576, 32_768).describe(
    'Bytes of facts in one audit event; of a large synchronisation the rest is counted, not told.',
  ),
  AUDIT_PAGE_SIZE: integer(1, 100, 50).describe('Audit events in a page when the caller does not say.'),
  APPLICATION_PAGE_SIZE: integer(1, 100, 50).describe(
    'Applications, versions or builds of one, in a page when the caller does not say.',
  ),

  ...consoleSettings,

  ...evaluationSettings,
});

/** The settings as the code reads them: parsed, in the units of their names. */
export type Settings = z.output<typeof envSchema>;
