import type { DataSource } from 'typeorm';
import { rotateSecrets } from './platform/secrets/sealed-columns.js';
import { SecretCipher } from './platform/secrets/secret-cipher.js';
import { checkSecretKeys } from './platform/secrets/secret-keys.js';
import { Clock } from './platform/clock.js';
import { runCli } from './platform/config/cli.js';
import { EnvError, type Env } from './platform/config/env.js';
import { withDatabase } from './store/maintenance.js';
import { SCHEMA } from './schema.js';
import { checkSchema } from './store/start-checks.js';

/**
 * Re-encrypts every stored secret with the first key of SECRETS_KEYS. Can be interrupted and repeated at any time.
 * Exits with status 1 when some secrets cannot be decrypted.
 */
await runCli((args, print) =>
  withDatabase(args, print, { schema: SCHEMA, work: (dataSource, env) => rotate(dataSource, env, print) }),
);

async function rotate(dataSource: DataSource, env: Env, print: (line: string) => void): Promise<number> {
  const keys = env.get('SECRETS_KEYS');
  if (keys.length === 0) {
    throw new EnvError(['SECRETS_KEYS is required']);
  }
  await checkSchema(dataSource, env.get('DATABASE_SHARD_KEYSPACE'));
  const cipher = new SecretCipher(keys);
  await checkSecretKeys(dataSource.manager, cipher, keys, new Clock().now());
  const { resealed, alreadyCurrent, unreadable } = await rotateSecrets(dataSource.manager, cipher);
  print(`Re-encrypted: ${resealed}; already encrypted with the current key: ${alreadyCurrent}.`);
  if (unreadable.length === 0) {
    return 0;
  }
  print(
    `Could not be decrypted and were left unchanged; enter these secrets again: ${unreadable.join(', ')}.`,
  );
  return 1;
}
