import 'reflect-metadata';
import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import type { TestedDatabase, ServerKind } from './databases/server-program.js';
import { processFolder } from './databases/process-resources.js';
import {
  dropDatabase,
  scratchDatabase,
  startDatabases,
  type TestDatabase,
} from './databases/start-databases.js';
import { Vtcombo } from './databases/vtcombo.js';
import { migrateDatabase, type WorkerDatabase } from './test-database.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The database of each worker, starting with VITEST_POOL_ID 1. */
    databases: WorkerDatabase[];
  }
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Creates a migrated database for each worker on the database server of the project. Worker ids run from 1 to
 * `maxWorkers` across all projects.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Tests run the built service, so an outdated build would be tested instead of the sources.
  execFileSync(process.execPath, ['tools/scripts/build.mjs'], { cwd: ROOT, stdio: 'inherit' });
  const kind = project.config.env['TEST_DATABASE'] as TestedDatabase;
  const workers = Array.from({ length: project.vitest.config.maxWorkers }, (_, index) => index + 1);
  const { databases, stop } = await databasesOf(kind, workers);
  try {
    await Promise.all(databases.map(migrateDatabase));
  } catch (error) {
    await stop();
    throw error;
  }
  const shards = (project.config.env as Record<string, string | undefined>)['TEST_SHARDS'];
  const sharded = shards === undefined ? {} : { DATABASE_SHARDS: shards };
  project.provide(
    'databases',
    databases.map(({ url, settings }) => ({ url, settings: { ...settings, ...sharded } })),
  );
  return stop;
}

interface WorkerDatabases {
  databases: WorkerDatabase[];
  stop: () => Promise<void>;
}

async function databasesOf(kind: TestedDatabase, workers: number[]): Promise<WorkerDatabases> {
  switch (kind) {
    case 'embedded':
      return embeddedFiles(workers);
    case 'vitess':
      return vitessKeyspaces(workers);
    default:
      return serverDatabases(kind, workers);
  }
}

async function embeddedFiles(workers: number[]): Promise<WorkerDatabases> {
  const folder = await processFolder(join(tmpdir(), 'svc-embedded'));
  return {
    databases: workers.map((worker) => ({
      url: `sqlite:${join(folder, `worker-${worker}.sqlite`)}`,
      settings: {},
    })),
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

async function serverDatabases(kind: ServerKind, workers: number[]): Promise<WorkerDatabases> {
  const server = await startServer(kind);
  const urls = await Promise.all(workers.map((worker) => scratchDatabase(server.url, databaseName(worker))));
  const stop = async (): Promise<void> => {
    await Promise.all(workers.map((worker) => dropDatabase(server.url, databaseName(worker))));
    await server.stop();
  };
  return { databases: urls.map((url) => ({ url, settings: {} })), stop };
}

async function vitessKeyspaces(workers: number[]): Promise<WorkerDatabases> {
  // Always a private server: Vitess reads the binary log and needs to create databases.
  const server = await startServer('mysql', Vtcombo.serverSettings);
  const vtcombo = await Vtcombo.start(server.url, workers).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  const stop = async (): Promise<void> => {
    await vtcombo.stop();
    await server.stop();
  };
  const databases = workers.map((worker) => ({
    url: vtcombo.url(worker),
    settings: Vtcombo.settings(worker),
  }));
  return { databases, stop };
}

async function startServer(kind: ServerKind, settings: readonly string[] = []): Promise<TestDatabase> {
  const { databases, missing } = await startDatabases([kind], { fast: true, settings });
  const [server] = databases;
  if (server === undefined) {
    throw new Error(`${kind} is not available: ${missing.map(({ reason }) => reason).join()}`);
  }
  return server;
}

function databaseName(worker: number): string {
  return `svc_test_${process.pid}_${worker}`;
}
