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
      'PEM file of the authorities that signed the certificates of the database, of Redis, of an https proxy and of an https collector; the built-in list without it.',
    ),
  DATABASE_POOL_SIZE: integer(1, 500, 20).describe(
    'Connections of the database pool; best above JOBS_CONCURRENCY, so that requests do not wait for background jobs.',
  ),
  DATABASE_SHARDS: powerOfTwo(256, 1).describe(
    'Shards of the database, a power of two up to 256: above 1 each statement names the shard of its rows and no transaction touches two (deploy/vitess); 1 for a server that holds all rows.',
  ),
  DATABASE_SHARD_KEYSPACE: identifier.describe(
    'Keyspace of the tables of running processes, where it is another one than DATABASE_URL names: migrations of these tables run there (deploy/vitess).',
  ),
  REDIS_URL: z
    .string()
    .refine(
      (url) => redisTarget(url) !== null,
      'must be redis://user:password@host:6379/0, redis+cluster://host:6379,host:6379 or redis+sentinel://host:26379,host:26379/primary, with rediss for TLS, special characters of user and password percent-encoded',
    )
    .optional()
    .describe(
      'Redis or Valkey (redis://, redis+cluster://, redis+sentinel://; rediss with TLS) in which all replicas count rate limits together and tell each other of changes; without it each counts by itself and looks into the database.',
    ),
  REDIS_KEY_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, _ or -')
    .default('svc')
    .describe('Begin of every key in Redis; each deployment on one Redis needs its own.'),
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

  TOOL_CALLS: flag(false).describe(
    'Whether people with the permission tool-call may call enabled tools by hand, with the credentials of their systems.',
  ),

  ...discoverySettings,
  JOBS_CONCURRENCY: integer(0, 100, 16).describe(
    'Short background jobs that this replica runs at the same time; 0 where it only answers requests. At least one must run them.',
  ),
  LIBRARY_CONSENT_AT_CALLS: flag(false).describe(
    'Whether each call into a library asks for the consent of its owner (usableBy of its newest build), not only the delivery and the build.',
  ),
  PROCESS_START_PERMISSION: permission.describe(
    'Permission of PERMISSION_RULES that starting a process asks for where the model has no svc:start; any valid token without it.',
  ),
  PROCESS_UI_ACTION_PERMISSION: permission.describe(
    'Permission of PERMISSION_RULES that executing a UI action asks for; any valid token without it.',
  ),
  PROCESS_UI_ACTION_ACCESS: z
    .enum(['starter', 'any-token'], 'must be starter or any-token')
    .default('starter')
    .describe(
      'Who may execute UI actions where no lane asks for a permission: who started the instance (starter), or any valid token (any-token). With any-token the list of tasks tells everybody with a valid token uuids of instances and tokens, application, process and node of what they may execute.',
    ),
  PROCESS_MESSAGE_ONE_RECEIVER: flag(false).describe(
    'Whether only one token may wait for a message with a correlation: a step that would make a second one wait is an incident. Needs DATABASE_SHARDS=1.',
  ),
  ...quotaSettings,
  LLM_BASE_URL: bareHttpUrl
    .optional()
    .describe(
      'Address of an OpenAI-compatible API up to its version, such as https://api.example.com/v1, without user information, query and fragment. With LLM_API_KEY it must be https unless on this machine. This address alone need not be in EGRESS_ALLOW. Without it Custom Agent nodes end in an incident.',
    ),
  LLM_MODEL: z.string().min(1).max(200).optional().describe('Name of the model that agents ask.'),
  LLM_API_KEY: z
    .string()
    .min(1)
    .regex(/^[\x21-\x7e]+$/, 'must be printable characters without blanks')
    .optional()
    .describe('Secret. Sent to LLM_BASE_URL as bearer token; nothing is sent without it.'),
  LLM_ANSWER_FORMAT: z
    .enum(['prompt', 'json_object', 'json_schema'], 'must be prompt, json_object or json_schema')
    .default('prompt')
    .describe(
      'How the form of the answer is asked for besides the instructions: not at all, or as response_format of one of these types, which not every model accepts.',
    ),
  AGENT_MAX_IMAGE_BYTES: integer(0, 67_108_864, 0).describe(
    'Bytes, as base64, of the images of tool results that one question to the model carries, the newest first. 0 for a model that does not see: it reads only their type and size.',
  ),

  ...traceSettings,

  CONSOLE: flag(true).describe(
    'Whether the console is served at /console, and browsers are led there from /.',
  ),
  CONSOLE_OIDC_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Public client of OIDC_ISSUER with which people sign in at the console, by authorization code and PKCE; nobody can sign in there without it.',
    ),
  CONSOLE_OIDC_SCOPE: z
    .string()
    .regex(
      /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/,
      'must be scopes with one space between them',
    )
    .refine((text) => text.split(' ').includes('openid'), 'must have the scope openid')
    .default('openid profile')
    .describe(
      'Scopes that the console asks for, with spaces between them; the access token must be one for OIDC_AUDIENCE.',
    ),

  MCP_PORT: integer(1, 65_535, 3_001).describe(
    'Port of 127.0.0.1 on which the sample application of evaluation mode finds its MCP server (npm run dev:mcp-server).',
  ),
});

/** The settings as the code reads them: parsed, in the units of their names. */
export type Settings = z.output<typeof envSchema>;
