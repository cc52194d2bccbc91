import { rotateSecrets } from '../common/secrets/rotate-secrets.js';
import { SecretCipher } from '../common/secrets/secret-cipher.js';
import { checkSecretKeys } from '../common/secrets/secret-keys.js';
import { Clock } from '../common/clock.js';
import { runCli } from '../config/cli.js';
import { Env, EnvError } from '../config/env.js';
import { connectDatabase } from './connect.js';

/** Seals every stored secret anew with the first key of SECRETS_KEYS. Can be stopped and started again at any time. */
await runCli(async (_args, print) => {
  const env = Env.fromProcess('maintenance');
  const keys = env.get('SECRETS_KEYS');
  if (keys.length === 0) {
    throw new EnvError(['SECRETS_KEYS is required']);
  }
  const dataSource = await connectDatabase(env);
  try {
    const cipher = new SecretCipher(keys);
    await checkSecretKeys(dataSource.manager, cipher, keys, new Clock().now());
    const { resealed, alreadyCurrent } = await rotateSecrets(dataSource.manager, cipher);
    print(`Sealed anew: ${resealed}; already under the current key: ${alreadyCurrent}.`);
    return 0;
  } finally {
    await dataSource.destroy();
  }
});
