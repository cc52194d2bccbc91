import { Global, Module, type DynamicModule } from '@nestjs/common';
import { Env } from '../platform/config/env.js';
import { Clock } from '../platform/clock.js';
import { Database } from './database.js';
import { SecretCipher } from '../platform/secrets/secret-cipher.js';
import { checkSecretKeys } from '../platform/secrets/secret-keys.js';

/** Provides the clock and the cipher. Checks at start that the configured keys match the stored secrets. */
@Global()
@Module({
  providers: [
    {
      provide: SecretCipher,
      inject: [Env, Database, Clock],
      useFactory: async (env: Env, database: Database, clock: Clock): Promise<SecretCipher> => {
        const keys = env.get('SECRETS_KEYS');
        const cipher = new SecretCipher(keys);
        await database.write((manager) => checkSecretKeys(manager, cipher, keys, clock.now()));
        return cipher;
      },
    },
  ],
  exports: [Clock, SecretCipher],
})
export class SecretsModule {
  static with(clock: Clock): DynamicModule {
    return { module: SecretsModule, providers: [{ provide: Clock, useValue: clock }] };
  }
}
