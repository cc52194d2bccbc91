import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Log } from '../common/logging/log.js';
import { Env } from '../config/env.js';
import { checkSecretsAreBound } from './bind-stored-secrets.js';
import { awaitDatabase } from './connect.js';
import { Database } from './database.js';
import { IdBlocks } from './id-blocks.js';
import { migrate } from './migrate.js';
import { warnOfPackets } from './packet-check.js';
import { checkSchema } from './schema-check.js';
import { checkSession } from './session-check.js';

/** Connects, checks the session rules and brings the schema up to date before anything else starts. */
@Global()
@Module({
  providers: [{ provide: DataSource, inject: [Env, Log], useFactory: openDataSource }, Database, IdBlocks],
  exports: [DataSource, Database, IdBlocks],
})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  async onApplicationShutdown(): Promise<void> {
    await this.dataSource.destroy();
  }
}

function openDataSource(env: Env, log: Log): Promise<DataSource> {
  return awaitDatabase(env, log, async (dataSource) => {
    await checkSession(dataSource);
    await warnOfPackets(dataSource, env, log);
    if (env.get('MIGRATIONS_RUN')) {
      await migrate(dataSource, env.get('MIGRATIONS_LOCK_TIMEOUT_SECONDS'), env.get('SECRETS_KEYS'));
    }
    await checkSchema(dataSource);
    await checkSecretsAreBound(dataSource);
  });
}
