import { z } from 'zod';
import { redisTarget } from './redis-url.js';
import { integer } from './setting-rules.js';

const MINUTE_MS = 60_000;

/** Settings of the Redis (or Valkey) that replicas share; it is optional. */
export const redisSettings = {
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
  REDIS_TLS_CA_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file of the authority that signed its certificate; the built-in list without it.'),
  REDIS_SENTINEL_PASSWORD: z
    .string()
    .min(1)
    .optional()
    .describe('Password of the Sentinels themselves; the account in REDIS_URL is that of the server.'),
  REDIS_KEY_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, _ or -')
    .default('svc')
    .describe('Begin of every key in Redis; each deployment on one Redis needs its own.'),
  REDIS_CONNECT_TIMEOUT_MS: integer(100, MINUTE_MS, 5_000).describe(
    'Milliseconds to open a connection to Redis.',
  ),
  REDIS_TIMEOUT_MS: integer(10, MINUTE_MS, 1_000).describe(
    'Milliseconds to wait for an answer of Redis; after that the replica goes on without it.',
  ),
};
