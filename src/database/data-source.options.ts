import { mkdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import LibsqlDatabase from 'libsql';
import mysql2, { type PoolOptions } from 'mysql2';
import type { DataSourceOptions } from 'typeorm';
import { CreateSystems1780000000000 } from '../../migrations/1780000000000-create-systems.js';
import { SecretKeyEntity } from '../common/secrets/secret-key.entity.js';
import type { Env } from '../config/env.js';
import { AppVersionEntity } from '../modules/apps/entities/app-version.entity.js';
import { VersionDependencyEntity } from '../modules/apps/entities/version-dependency.entity.js';
import { AuditEventEntity } from '../modules/audit/entities/audit-event.entity.js';
import { ResourceDefinitionEntity } from '../modules/systems/entities/resource-definition.entity.js';
import { SystemEntity } from '../modules/systems/entities/system.entity.js';
import { ToolEntity } from '../modules/tools/entities/tool.entity.js';
import { readAuthority } from './authority-file.js';

const SHARED = {
  entities: [
    AppVersionEntity,
    AuditEventEntity,
    ResourceDefinitionEntity,
    SecretKeyEntity,
    SystemEntity,
    ToolEntity,
    VersionDependencyEntity,
  ],
  migrations: [CreateSystems1780000000000],
  migrationsTransactionMode: 'each',
  synchronize: false,
  logging: false,
} as const satisfies Partial<DataSourceOptions>;

const SECOND_MS = 1_000;
const EMBEDDED_SCHEME = 'sqlite:';
const EMBEDDED_FILE = 'svc.sqlite';
const EMBEDDED_BUSY_TIMEOUT_MS = 5_000;

/**
 * What TypeORM needs to know about the database that the settings name: a MySQL or MariaDB server by `DATABASE_URL`,
 * or the embedded SQLite file. The one place outside a module that lists entities and migrations.
 * @throws EnvError when DATABASE_TLS_CA_FILE cannot be read or holds no certificates
 */
export function dataSourceOptions(env: Env): DataSourceOptions {
  const url = env.get('DATABASE_URL');
  if (url === undefined) {
    return embeddedOptions(join(env.get('DATA_DIR'), EMBEDDED_FILE));
  }
  return url.startsWith(EMBEDDED_SCHEME)
    ? embeddedOptions(url.slice(EMBEDDED_SCHEME.length))
    : serverOptions(url, env);
}

function serverOptions(url: string, env: Env): DataSourceOptions {
  return {
    ...SHARED,
    // The dialects differ in what they take json columns for: the wrong one works, but reports drift that is none.
    type: url.startsWith('mariadb:') ? 'mariadb' : 'mysql',
    url,
    driver: { ...mysql2, createPool: createPoolWith(sessionStatements(env), silenceLimit(env)) },
    charset: 'utf8mb4',
    timezone: 'Z',
    connectTimeout: env.get('DATABASE_CONNECT_TIMEOUT_MS'),
    poolSize: env.get('DATABASE_POOL_SIZE'),
    ...tlsOptions(env),
  };
}

function tlsOptions(env: Env): { ssl?: PoolOptions['ssl'] } {
  if (!env.get('DATABASE_TLS')) {
    return {};
  }
  const file = env.get('DATABASE_TLS_CA_FILE');
  return {
    ssl: {
      rejectUnauthorized: true,
      verifyIdentity: true,
      ...(file === undefined ? {} : { ca: readAuthority(file) }),
    },
  };
}

function sessionStatements(env: Env): string[] {
  return [
    // Only committed rows are read, so that a reader never waits and a retry sees the winner's row.
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    "SET SESSION sql_mode = 'TRADITIONAL'",
    `SET SESSION innodb_lock_wait_timeout = ${env.get('DATABASE_LOCK_WAIT_SECONDS')}`,
  ];
}

/** Longer than anything we wait for in one statement; after that a connection on which nothing moves is dead. */
function silenceLimit(env: Env): number {
  const longestWaitMs = Math.max(
    env.get('DATABASE_DEADLINE_MS'),
    env.get('MIGRATIONS_LOCK_TIMEOUT_SECONDS') * SECOND_MS,
  );
  return longestWaitMs + SECOND_MS;
}

function createPoolWith(statements: string[], silenceMs: number): (options: PoolOptions) => mysql2.Pool {
  return (options) => {
    const pool = mysql2.createPool(options);
    pool.on('connection', (connection) => {
      // The statements are queued before anything the borrower of a new connection sends.
      statements.forEach((statement) => connection.query(statement));
      // A server that vanished without a word would keep its connections in the pool until the kernel gives up.
      const { stream } = connection as unknown as { stream: Socket };
      stream.setTimeout(silenceMs, () => stream.destroy(new Error('database connection is silent')));
    });
    return pool;
  };
}

function embeddedOptions(file: string): DataSourceOptions {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return {
    ...SHARED,
    type: 'better-sqlite3',
    database: file,
    driver: LibsqlDatabase,
    enableWAL: true,
    timeout: EMBEDDED_BUSY_TIMEOUT_MS,
    prepareDatabase: (database: InstanceType<typeof LibsqlDatabase>) => {
      database.pragma('synchronous = FULL');
      beginForWriting(database);
    },
  };
}

/**
 * Makes every transaction take the lock for writing when it begins, where it waits for its turn. One that reads first
 * fails at its first write if another process has written meanwhile, and the driver then leaves the connection in that
 * state for good.
 */
function beginForWriting(database: InstanceType<typeof LibsqlDatabase>): void {
  const prepare = database.prepare.bind(database);
  database.prepare = (sql: string) => prepare(sql === 'BEGIN TRANSACTION' ? 'BEGIN IMMEDIATE' : sql);
}
