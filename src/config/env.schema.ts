import { z } from 'zod';
import { agentSettings } from './agent-settings.js';
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
import { processSettings } from './process-settings.js';
import { quotaSettings } from './quota-settings.js';
import { redisSettings } from './redis-settings.js';
import { flag, httpUrl, integer, list, origin } from './setting-rules.js';
import { tokenSettings } from './token-settings.js';
import { traceSettings } from './trace-settings.js';

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
  TLS_CA_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'PEM file of the authorities that signed the certificates of the database, of Redis, of an https proxy and of an https collector; the built-in list without it.',
    ),
  ...databaseSettings,
  ...redisSettings,
  MIGRATIONS_RUN: flag(true).describe('Run pending migrations at start, one replica at a time.'),

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
  OIDC_TOKEN_TYPES: list(['at+jwt', 'jwt', 'none'])
    .refine((values) => values.length > 0, 'must list at least one type')
    .describe(
      'Values of the typ header accepted, none for an absent one; at+jwt alone (RFC 9068) is the strictest.',
    ),
  ...tokenSettings,
  PERMISSION_RULES: permissionRules.describe(
    'JSON: permission -> rules { claim: name or path, has: value }; any matching rule grants it, also for some applications only (docs/operations.md).',
  ),

  SECRETS_KEYS: secretsKeys.describe(
    'id:key list, keys are 32 bytes in base64; the first one encrypts. Required in production.',
  ),
  HTTP_REQUIRE_IF_MATCH: flag(false).describe(
    'Whether changing or deleting a system and choosing the active build need `If-Match`, the ETag of what was read: 428 without.',
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
  SHUTDOWN_DELAY_MS: integer(0, MINUTE_MS, 5_000).describe(
    'Milliseconds between failing /readyz and answering new requests 503; until then everything is served.',
  ),

  RATE_LIMIT_ADDRESS_PER_MINUTE: integer(0, 10_000_000, 6_000).describe(
    'Requests a minute from one address, before authentication; 0 is no limit.',
  ),
  RATE_LIMIT_PRINCIPAL_PER_MINUTE: integer(0, 10_000_000, 3_000).describe(
    'Requests a minute of one caller, after authentication; 0 is no limit.',
  ),

  EGRESS_ALLOW: list().describe(
    'Private or loopback targets the service may call: CIDR, address, host name, each with optional :port; APP=target is for the systems of this application alone.',
  ),
  ...outboundSettings,
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

  ...mcpCallSettings,

  ...discoverySettings,
  ...jobSettings,
  ...packageSettings,
  ...processSettings,
  ...quotaSettings,
  ...agentSettings,

  ...traceSettings,

  ...consoleSettings,

  ...evaluationSettings,
});

/** The settings as the code reads them: parsed, in the units of their names. */
export type Settings = z.output<typeof envSchema>;
