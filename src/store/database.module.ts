import { databaseLimits } from './database.limits.js';
import { Global, Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Log } from '../platform/observability/logging/log.js';
import { Env } from '../platform/config/env.js';
import { awaitDatabase } from './connection/connect.js';
import { Database } from './database.js';
import { IdBlocks } from './ids/id-blocks.js';
import { migrate } from './migrate.js';
import { warnOfSmallPackets, checkSchema, checkSession, checkWriters } from './start-checks.js';
import type { Schema } from './schema.types.js';
import { ShardGroups } from './shards.js';

/** Connects to the database, checks it and updates the schema before other modules start. */
@Global()
@Module({ providers: [Database, IdBlocks, ShardGroups], exports: [Database, IdBlocks, ShardGroups] })
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  static of(schema: Schema): DynamicModule {
    const useFactory = (env: Env, log: Log): Promise<DataSource> => openDataSource(env, schema, log);
    return {
      module: DatabaseModule,
      providers: [{ provide: DataSource, inject: [Env, Log], useFactory }],
      exports: [DataSource],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.dataSource.destroy();
  }
}

function openDataSource(env: Env, schema: Schema, log: Log): Promise<DataSource> {
  return awaitDatabase(env, schema, log, async (dataSource) => {
    await checkSession(dataSource);
    await checkWriters(dataSource);
    await warnOfSmallPackets(dataSource, log);
    if (env.get('MIGRATIONS_RUN')) {
      await migrate(dataSource, databaseLimits.migrationLockSeconds);
    }
    await checkSchema(dataSource, env.get('DATABASE_SHARD_KEYSPACE'));
  });
}
