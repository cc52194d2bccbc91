import { z } from 'zod';
import { databaseServer } from './database-url.js';
import { discoverySettings } from './discovery-settings.js';
import { outboundSettings } from './outbound-settings.js';
import { permissionRules } from './permission-rules.js';
import { quotaSettings } from './quota-settings.js';
import {
  bareHttpUrl,
  flag,
  httpUrl,
  identifier,
  integer,
  list,
  origin,
  permission,
  powerOfTwo,
} from './setting-rules.js';
import { redisTarget } from './redis-url.js';
import { tokenSettings } from './token-settings.js';
import { traceSettings } from './trace-settings.js';

const MINUTE_MS = 60_000;
const SERVER_RULE =
  'must have the form user:password@host:port/database, with special characters in user and password percent-encoded';

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
 * Defines every setting of the service: environment variable, rule, default and one line of description. `.env.example`
 * is generated from it.
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
  PORT: integer(0, 65_535, 3_000).describe('Port to listen on; 0 selects a free one.'),
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
    .refine((value) => value.startsWith('sqlite:') || databaseServer(value) !== null, SERVER_RULE)
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
      'PEM file with the certificate authorities for the database, Redis, an https proxy and an https collector. Default: the built-in list.',
    ),
  DATABASE_POOL_SIZE: integer(1, 500, 20).describe(
    'Connections in the database pool. Set it above JOBS_CONCURRENCY, so that requests do not wait for background jobs.',
  ),
  DATABASE_SHARDS: powerOfTwo(256, 1).describe(
    'Number of database shards, a power of two up to 256. Above 1, each statement names the shard of its rows and no transaction uses two shards (deploy/vitess). 1 for a server that holds all rows.',
  ),
  DATABASE_SHARD_KEYSPACE: identifier.describe(
    'Keyspace of the tables of running processes, if it is not the one in DATABASE_URL: migrations of these tables run there (deploy/vitess).',
  ),
  MIGRATIONS_RUN: flag(true).describe('Run pending migrations at start, one replica at a time.'),

  REDIS_URL: z
    .string()
    .refine(
      (url) => redisTarget(url) !== null,
      'must be redis://user:password@host:6379/0, redis+cluster://host:6379,host:6379 or redis+sentinel://host:26379,host:26379/primary, with rediss for TLS, and special characters in user and password percent-encoded',
    )
    .optional()
    .describe(
      'Redis or Valkey (redis://, redis+cluster://, redis+sentinel://; rediss with TLS) by which replicas share rate limits and notify each other of changes. Without it, each replica counts alone and polls the database.',
    ),
  REDIS_KEY_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, _ or -')
    .default('svc')
    .describe('Prefix of all keys in Redis. Deployments that share a Redis need different ones.'),

  OIDC_ISSUER: httpUrl
    .optional()
    .describe(
      'Issuer of the bearer tokens, whose discovery document names the keys; https unless on this machine. Required in production.',
    ),
  OIDC_AUDIENCE: z
    .string()
    .min(1)
    .optional()
    .describe('Value that the aud claim must contain. Required in production.'),
  OIDC_TOKEN_TYPES: list(['at+jwt', 'jwt', 'none'])
    .refine((values) => values.length > 0, 'must list at least one type')
    .describe(
      'Accepted values of the typ header; none accepts tokens without it. at+jwt alone (RFC 9068) is the strictest.',
    ),
  ...tokenSettings,
  PERMISSION_RULES: permissionRules.describe(
    'JSON: permission -> rules { claim: name or path, has: value }. Any matching rule grants it, optionally for some applications only (docs/operations.md).',
  ),

  SECRETS_KEYS: secretsKeys.describe(
    'Encryption keys: id:key, comma-separated, each key 32 bytes in base64. The first one encrypts. Required in production.',
  ),
  HTTP_REQUIRE_IF_MATCH: flag(false).describe(
    'Whether changing or deleting a system and replacing the active build require `If-Match` with the ETag that was read; 428 without it.',
  ),
  PUBLIC_ORIGIN: origin()
    .optional()
    .describe(
      'Origin by which callers know this service, such as https://svc.example.com. Default in responses: the address of the connection.',
    ),
  CORS_ORIGINS: list().describe('Exact origins of front ends, comma-separated.'),
  TRUST_PROXY: integer(0, 10, 0).describe(
    'Number of reverse proxies in front of the service whose X-Forwarded-For is trusted.',
  ),
  METRICS_PORT: integer(0, 65_535, 0).describe(
    'Separate port for /metrics, and additionally for /livez and /readyz, served by its own thread; 0 serves /metrics on PORT.',
  ),
  SHUTDOWN_DELAY_MS: integer(0, MINUTE_MS, 5_000).describe(
    'Milliseconds between failing /readyz and rejecting new requests with 503; until then everything is served.',
  ),

  RATE_LIMIT_ADDRESS_PER_MINUTE: integer(0, 10_000_000, 6_000).describe(
    'Maximum requests per minute from one address, checked before authentication; 0 means no limit.',
  ),
  RATE_LIMIT_PRINCIPAL_PER_MINUTE: integer(0, 10_000_000, 3_000).describe(
    'Maximum requests per minute of one caller, checked after authentication; 0 means no limit.',
  ),

  EGRESS_ALLOW: list().describe(
    'Private or loopback targets that the service may call: CIDR, address or host name, each with optional :port. APP=target applies only to systems of the application APP.',
  ),
  ...outboundSettings,
  MCP_REFRESH_MINUTES: integer(0, 10_080, 0).describe(
    'Minutes after which the tools of a tested MCP system are read again, as by a connection test. They are also read soon after the server reports a change. 0 leaves that to connection tests.',
  ),
  TOOL_CHANGE_POLICY: z
    .enum(
      ['review-changes', 'review-writes', 'review', 'accept'],
      'must be review-changes, review-writes, review or accept',
    )
    .default('review-changes')
    .describe(
      'Tools that stay disabled until someone enables them. review-changes: new and changed ones, except the first list of a server; review-writes: also those of the first list without readOnlyHint; review: also the whole first list; accept: none.',
    ),

  TOOL_CALLS: flag(false).describe(
    'Whether users with the permission tool-call may call enabled tools by hand, with the credentials of the systems.',
  ),

  ...discoverySettings,
  JOBS_CONCURRENCY: integer(0, 100, 16).describe(
    'Number of short background jobs that this replica runs concurrently; 0 if it only serves requests. At least one replica must run them.',
  ),
  LIBRARY_CONSENT_AT_CALLS: flag(false).describe(
    'Whether each call into a library requires the consent of its owner (usableBy of its newest build), not only delivery and build.',
  ),
  PROCESS_START_PERMISSION: permission.describe(
    'Permission of PERMISSION_RULES that is required to start a process whose model has no svc:start. Without it, any valid token suffices.',
  ),
  PROCESS_UI_ACTION_PERMISSION: permission.describe(
    'Permission of PERMISSION_RULES that is required to execute a UI action. Without it, any valid token suffices.',
  ),
  PROCESS_UI_ACTION_ACCESS: z
    .enum(['starter', 'any-token'], 'must be starter or any-token')
    .default('starter')
    .describe(
      'Who may execute UI actions if the lane requires no permission: the user who started the instance (starter), or anyone with a valid token (any-token). With any-token, the list of tasks shows everyone with a valid token the uuids of instances and tokens, and application, process and node of what they may execute.',
    ),
  PROCESS_MESSAGE_ONE_RECEIVER: flag(false).describe(
    'Whether only one token may wait for a message with a given correlation. A step that would add a second one stops with an incident. Requires DATABASE_SHARDS=1.',
  ),
  ...quotaSettings,
  LLM_BASE_URL: bareHttpUrl
    .optional()
    .describe(
      'Address of an OpenAI-compatible API including its version, such as https://api.example.com/v1, without user information, query and fragment. With LLM_API_KEY it must be https unless on this machine. It need not be in EGRESS_ALLOW. Without it, Custom Agent nodes stop with an incident.',
    ),
  LLM_MODEL: z.string().min(1).max(200).optional().describe('Name of the model that agents use.'),
  LLM_API_KEY: z
    .string()
    .min(1)
    .regex(/^[\x21-\x7e]+$/, 'must be printable characters without blanks')
    .optional()
    .describe('Secret. Sent to LLM_BASE_URL as bearer token. Without it, no Authorization header is sent.'),
  LLM_ANSWER_FORMAT: z
    .enum(['prompt', 'json_object', 'json_schema'], 'must be prompt, json_object or json_schema')
    .default('prompt')
    .describe(
      'How the format of the answer is requested in addition to the instructions: prompt adds nothing; json_object and json_schema add a response_format of that type, which not every model accepts.',
    ),
  AGENT_MAX_IMAGE_BYTES: integer(0, 67_108_864, 0).describe(
    'Maximum size, in base64 bytes, of the images of tool results in one request to the model, newest first. 0 for a model without vision: it gets only their type and size.',
  ),

  ...traceSettings,

  CONSOLE: flag(true).describe(
    'Whether the console is served at /console, and browsers are redirected there from /.',
  ),
  CONSOLE_OIDC_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Public client of OIDC_ISSUER with which users sign in to the console (authorization code with PKCE). Without it, nobody can sign in there.',
    ),
  CONSOLE_OIDC_SCOPE: z
    .string()
    .regex(
      /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/,
      'must be scopes separated by single spaces',
    )
    .refine((text) => text.split(' ').includes('openid'), 'must contain the scope openid')
    .default('openid profile')
    .describe(
      'Scopes that the console requests, separated by spaces. The access token must be valid for OIDC_AUDIENCE.',
    ),

  MCP_PORT: integer(1, 65_535, 3_001).describe(
    'Port on 127.0.0.1 of the MCP server that the sample application of evaluation mode uses (npm run dev:mcp-server).',
  ),
});

/** The parsed settings, in the units of their names. */
export type Settings = z.output<typeof envSchema>;
