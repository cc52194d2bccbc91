import { z } from 'zod';
import { redisTarget } from './redis-url.js';

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
  REDIS_KEY_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, _ or -')
    .default('svc')
    .describe('Begin of every key in Redis; each deployment on one Redis needs its own.'),
};
