import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import LibsqlDatabase from 'libsql';
import mysql2, { type PoolOptions } from 'mysql2';
import type { DataSourceOptions } from 'typeorm';
import { CreateSystems1780000000000 } from '../../migrations/1780000000000-create-systems.js';
import { CreateIdBlocks1785000000000 } from '../../migrations/1785000000000-create-id-blocks.js';
import { CreateBuilds1790000000000 } from '../../migrations/1790000000000-create-builds.js';
import { CreateProcessRuntime1790000001000 } from '../../migrations/1790000001000-create-process-runtime.js';
import { CreateJobs1790000002000 } from '../../migrations/1790000002000-create-jobs.js';
import { CreateWorkflowRuns1790000003000 } from '../../migrations/1790000003000-create-workflow-runs.js';
import { CreateDiscovery1795000000000 } from '../../migrations/1795000000000-create-discovery.js';
import { CountJobFailures1795500000000 } from '../../migrations/1795500000000-count-job-failures.js';
import { CreateWorkflowCalls1796000000000 } from '../../migrations/1796000000000-create-workflow-calls.js';
import { AddPackageWorkflows1796000001000 } from '../../migrations/1796000001000-add-package-workflows.js';
import { CreateToolDecisions1797000000000 } from '../../migrations/1797000000000-create-tool-decisions.js';
import { CreateLibraryUsers1797000001000 } from '../../migrations/1797000001000-create-library-users.js';
import { AddWorkflowErrorCode1797000002000 } from '../../migrations/1797000002000-add-workflow-error-code.js';
import { CountJobInterruptions1797000005000 } from '../../migrations/1797000005000-count-job-interruptions.js';
import { CreateMigrationSteps1797000006000 } from '../../migrations/1797000006000-create-migration-steps.js';
import { CreateWriteProofs1797000005001 } from '../../migrations/1797000005001-create-write-proofs.js';
import { SecretKeyEntity } from '../common/secrets/secret-key.entity.js';
import { databaseServer } from '../config/database-url.js';
import type { Env } from '../config/env.js';
import { AppVersionEntity } from '../modules/apps/app-version.entity.js';
import { VersionDependencyEntity } from '../modules/apps/version-dependency.entity.js';
import { AuditEventEntity } from '../modules/audit/audit-event.entity.js';
import { ActiveBuildEntity } from '../modules/builds/storage/active-build.entity.js';
import { AppPackageEntity } from '../modules/builds/storage/app-package.entity.js';
import { BuildEntity } from '../modules/builds/storage/build.entity.js';
import { BuildDefinitionEntity } from '../modules/builds/storage/build-definition.entity.js';
import { BuildLibraryEntity } from '../modules/builds/storage/build-library.entity.js';
import { BuildSystemEntity } from '../modules/builds/storage/build-system.entity.js';
import { BuildToolEntity } from '../modules/builds/storage/build-tool.entity.js';
import { BuildWorkflowEntity } from '../modules/builds/storage/build-workflow.entity.js';
import { LibraryUserEntity } from '../modules/builds/storage/library-user.entity.js';
import { ProcessNodeEntity } from '../modules/builds/storage/process-node.entity.js';
import { DiscoveryChangeEntity } from '../modules/discovery/storage/discovery-change.entity.js';
import { DiscoveryScanEntity } from '../modules/discovery/storage/discovery-scan.entity.js';
import { DiscoveryStateEntity } from '../modules/discovery/storage/discovery-state.entity.js';
import { RuntimeJobEntity } from '../modules/jobs/storage/runtime-job.entity.js';
import { ProcessEventEntity } from '../modules/process-runtime/storage/process-event.entity.js';
import { ProcessIncidentEntity } from '../modules/process-runtime/storage/process-incident.entity.js';
import { ProcessInstanceEntity } from '../modules/process-runtime/storage/process-instance.entity.js';
import { ProcessMessageWaitEntity } from '../modules/process-runtime/storage/process-message-wait.entity.js';
import { ProcessMessageEntity } from '../modules/process-runtime/storage/process-message.entity.js';
import { ProcessRepeatEntity } from '../modules/process-runtime/storage/process-repeat.entity.js';
import { ProcessTokenEntity } from '../modules/process-runtime/storage/process-token.entity.js';
import { ResourceDefinitionEntity } from '../modules/systems/storage/resource-definition.entity.js';
import { SystemEntity } from '../modules/systems/storage/system.entity.js';
import { ToolDecisionEntity } from '../modules/tools/storage/tool-decision.entity.js';
import { ToolEntity } from '../modules/tools/storage/tool.entity.js';
import { WorkflowCallEntity } from '../modules/workflows/storage/workflow-call.entity.js';
import { WorkflowRunEntity } from '../modules/workflows/storage/workflow-run.entity.js';
import { readAuthority } from './authority-file.js';
import { keepTransactions } from './embedded-transactions.js';
import { IdBlockEntity } from './id-block.entity.js';
import { MigrationStepEntity } from './migration-step.entity.js';
import { poolFactory, type PoolRules } from './server-pool.js';
import { WriteProofEntity } from './write-proof.entity.js';

const SHARED = {
  entities: [
    ActiveBuildEntity,
    AppPackageEntity,
    AppVersionEntity,
    AuditEventEntity,
    BuildDefinitionEntity,
    BuildEntity,
    BuildLibraryEntity,
    BuildSystemEntity,
    BuildToolEntity,
    BuildWorkflowEntity,
    DiscoveryChangeEntity,
    DiscoveryScanEntity,
    DiscoveryStateEntity,
    IdBlockEntity,
    LibraryUserEntity,
    MigrationStepEntity,
    ProcessEventEntity,
    ProcessIncidentEntity,
    ProcessInstanceEntity,
    ProcessMessageEntity,
    ProcessMessageWaitEntity,
    ProcessNodeEntity,
    ProcessRepeatEntity,
    ProcessTokenEntity,
    ResourceDefinitionEntity,
    RuntimeJobEntity,
    SecretKeyEntity,
    SystemEntity,
    ToolDecisionEntity,
    ToolEntity,
    VersionDependencyEntity,
    WorkflowCallEntity,
    WorkflowRunEntity,
    WriteProofEntity,
  ],
  migrations: [
    CreateSystems1780000000000,
    CreateIdBlocks1785000000000,
    CreateBuilds1790000000000,
    CreateProcessRuntime1790000001000,
    CreateJobs1790000002000,
    CreateWorkflowRuns1790000003000,
    CreateDiscovery1795000000000,
    CountJobFailures1795500000000,
    CreateWorkflowCalls1796000000000,
    AddPackageWorkflows1796000001000,
    CreateToolDecisions1797000000000,
    CreateLibraryUsers1797000001000,
    AddWorkflowErrorCode1797000002000,
    CountJobInterruptions1797000005000,
    CreateMigrationSteps1797000006000,
    CreateWriteProofs1797000005001,
  ],
  migrationsTransactionMode: 'each',
  synchronize: false,
  logging: false,
} as const satisfies Partial<DataSourceOptions>;

const SECOND_MS = 1_000;
const EMBEDDED_SCHEME = 'sqlite:';
/** SQLite's name for a database without a file. */
const IN_MEMORY = ':memory:';
const EMBEDDED_FILE = 'svc.sqlite';
const DEFAULT_PORT = '3306';
/** Groups: host, port, database. */
const ENDPOINT = /^\w+:\/\/([^:/]+)(?::(\d+))?\/(.+)$/;
const EMBEDDED_BUSY_TIMEOUT_MS = 5_000;

/**
 * What TypeORM needs to know about the database that the settings name: a MySQL or MariaDB server by `DATABASE_URL`,
 * or the embedded SQLite file. The one place outside a module that lists entities and migrations.
 * @throws EnvError when DATABASE_TLS_CA_FILE cannot be read or holds no certificates
 */
export function dataSourceOptions(env: Env): DataSourceOptions {
  const target = targetOf(env);
  return 'url' in target ? serverOptions(target.url, env) : embeddedOptions(target.file);
}

/** The database that the settings name, for a person: server, port and database, or the file; never a credential. */
export function describeDatabase(env: Env): string {
  const target = targetOf(env);
  if ('file' in target) {
    return `embedded file ${target.file}`;
  }
  const [, host, port = DEFAULT_PORT, database] =
    ENDPOINT.exec(databaseServer(target.url)?.endpoint ?? '') ?? [];
  return `server ${host}, port ${port}, database ${database}`;
}

/** Whether the settings name an embedded file that is not there. */
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

function serverOptions(url: string, env: Env): DataSourceOptions {
  return {
    ...SHARED,
    // The dialects differ in what they take json columns for: the wrong one works, but reports drift that is none.
    type: url.startsWith('mariadb:') ? 'mariadb' : 'mysql',
    url,
    driver: { ...mysql2, createPool: poolFactory(poolRules(env)) },
    extra: { enableKeepAlive: true, keepAliveInitialDelay: silenceLimit(env) },
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

function poolRules(env: Env): PoolRules {
  return {
    sessionStatements: sessionStatements(env),
    silenceMs: silenceLimit(env),
    queue: env.get('DATABASE_POOL_QUEUE'),
    // One who has a connection made for it does not wait for others.
    waitMs: Math.max(env.get('DATABASE_POOL_WAIT_MS'), env.get('DATABASE_CONNECT_TIMEOUT_MS') + SECOND_MS),
    retryAfterSeconds: env.get('DATABASE_RETRY_AFTER_SECONDS'),
  };
}

/** Longer than a statement waits for a lock; after that a connection on which nothing moves is dead. */
function silenceLimit(env: Env): number {
  return Math.max(env.get('DATABASE_SILENCE_MS'), (env.get('DATABASE_LOCK_WAIT_SECONDS') + 1) * SECOND_MS);
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
      keepTransactions(database);
    },
  };
}
