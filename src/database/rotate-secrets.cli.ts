import { rotateSecrets } from '../common/secrets/rotate-secrets.js';
import { SecretCipher } from '../common/secrets/secret-cipher.js';
import { checkSecretKeys } from '../common/secrets/secret-keys.js';
import { Clock } from '../common/clock.js';
import { runCli } from '../config/cli.js';
import { EnvError } from '../config/env.js';
import { withDatabaseOf } from './maintenance.js';
import { checkSchema } from './schema-check.js';

/** Seals every stored secret anew with the first key of SECRETS_KEYS. Can be stopped and started again at any time. */
await runCli((args, print) =>
  withDatabaseOf(args, print, async (dataSource, env) => {
    const keys = env.get('SECRETS_KEYS');
    if (keys.length === 0) {
      throw new EnvError(['SECRETS_KEYS is required']);
    }
    await checkSchema(dataSource);
    const cipher = new SecretCipher(keys);
    await checkSecretKeys(dataSource.manager, cipher, keys, new Clock().now());
    const { resealed, alreadyCurrent } = await rotateSecrets(dataSource.manager, cipher);
    print(`Sealed anew: ${resealed}; already under the current key: ${alreadyCurrent}.`);
    return 0;
  }),
);
