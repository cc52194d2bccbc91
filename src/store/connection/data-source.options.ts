import { databaseLimits } from '../database.limits.js';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import LibsqlDatabase from 'libsql';
import mysql2, { type PoolOptions } from 'mysql2';
import type { DataSourceOptions } from 'typeorm';
import { databaseServer } from '../../platform/config/database-url.js';
import type { Env } from '../../platform/config/env.js';
import { placedMigrations, type Schema } from '../schema.types.js';
import { readAuthority } from '../../platform/tls/authority-file.js';
import { keepTransactions } from './embedded-file.js';
import { poolFactory, type PoolRules } from './server-pool.js';

const SHARED = {
  migrationsTransactionMode: 'each',
  synchronize: false,
  logging: false,
} as const satisfies Partial<DataSourceOptions>;

const SECOND_MS = 1_000;
const EMBEDDED_SCHEME = 'sqlite:';
const IN_MEMORY = ':memory:';
const EMBEDDED_FILE = 'svc.sqlite';
const EMBEDDED_BUSY_TIMEOUT_MS = 5_000;

/**
 * Returns the TypeORM options for the configured database: a MySQL or MariaDB server from `DATABASE_URL`, or the embedded SQLite
 * file.
 * @param schema entities and migrations
 * @throws EnvError when TLS_CA_FILE cannot be read or holds no certificates
 */
export function dataSourceOptions(env: Env, schema: Schema): DataSourceOptions {
  const target = targetOf(env);
  return 'file' in target ? embeddedOptions(target.file, schema) : serverOptions(target.url, schema, env);
}

/** Describes the configured database for people: server, port and database, or the file. Never contains credentials. */
export function describeDatabase(env: Env): string {
  const target = targetOf(env);
  if ('file' in target) {
    return `embedded file ${target.file}`;
  }
  const { host, port, database } = databaseServer(target.url) ?? {};
  return `server ${host}, port ${port}, database ${database}`;
}

/** Reports whether the configured database is an embedded file that does not exist. */
export function isEmbeddedFileMissing(env: Env): boolean {
  const target = targetOf(env);
  return 'file' in target && target.file !== IN_MEMORY && !existsSync(target.file);
}

function targetOf(env: Env): { url: string } | { file: string } {
  const url = env.get('DATABASE_URL');
  if (url === undefined) {
    return { file: join(env.get('DATA_DIR'), EMBEDDED_FILE) };
  }
  return url.startsWith(EMBEDDED_SCHEME) ? { file: url.slice(EMBEDDED_SCHEME.length) } : { url };
}

function serverOptions(url: string, schema: Schema, env: Env): DataSourceOptions {
  return {
    ...SHARED,
    ...schema,
    migrations: placedMigrations(schema, env),
    // The dialects map json columns differently. The wrong one works, but reports false schema changes.
    type: url.startsWith('mariadb:') ? 'mariadb' : 'mysql',
    url,
    driver: { ...mysql2, createPool: poolFactory(poolRules(env)) },
    // Without stack traces for each statement, which are expensive. Errors contain the statement.
    extra: { enableKeepAlive: true, keepAliveInitialDelay: silenceLimit(), trace: false },
    charset: 'utf8mb4',
    timezone: 'Z',
    connectTimeout: databaseLimits.connectTimeoutMs,
    poolSize: env.get('DATABASE_POOL_SIZE'),
    ...tlsOptions(env),
  };
}

function tlsOptions(env: Env): { ssl?: PoolOptions['ssl'] } {
  return env.get('DATABASE_TLS')
    ? { ssl: { rejectUnauthorized: true, verifyIdentity: true, ...readAuthority(env) } }
    : {};
}

function poolRules(env: Env): PoolRules {
  return {
    sessionStatements: [
      // Readers see committed rows only, so they never wait, and a retry sees the row of the transaction that won.
      'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
      "SET SESSION sql_mode = 'TRADITIONAL'",
      `SET SESSION innodb_lock_wait_timeout = ${databaseLimits.lockWaitSeconds}`,
    ],
    silenceMs: silenceLimit(),
    queue: databaseLimits.poolQueue,
    // Long enough for a new connection to be opened.
    waitMs: Math.max(databaseLimits.poolWaitMs, databaseLimits.connectTimeoutMs + SECOND_MS),
    // With several shards, Vitess sends the preparation to any shard, within the current transaction.
    prepares: databaseLimits.preparedStatements && env.get('DATABASE_SHARDS') === 1,
  };
}

/** Returns after how long a silent connection is considered dead. Longer than a statement waits for a lock. */
function silenceLimit(): number {
  return Math.max(databaseLimits.silenceMs, (databaseLimits.lockWaitSeconds + 1) * SECOND_MS);
}

function embeddedOptions(file: string, schema: Schema): DataSourceOptions {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return {
    ...SHARED,
    ...schema,
    type: 'better-sqlite3',
    database: file,
    driver: LibsqlDatabase,
    enableWAL: true,
    timeout: EMBEDDED_BUSY_TIMEOUT_MS,
    prepareDatabase: (database: InstanceType<typeof LibsqlDatabase>) => {
      database.pragma(`synchronous = ${databaseLimits.embeddedSynchronous}`);
      keepTransactions(database);
    },
  };
}
