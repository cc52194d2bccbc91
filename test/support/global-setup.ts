import 'reflect-metadata';
import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import type { DatabaseKind } from './databases/database-kind.js';
import { processFolder } from './databases/process-folder.js';
import { dropDatabase, scratchDatabase } from './databases/scratch-database.js';
import type { ServerKind } from './databases/server-program.js';
import { startDatabases } from './databases/start-databases.js';
import { migrateDatabase } from './test-database.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** DATABASE_URL of each worker; the first one belongs to VITEST_POOL_ID 1. */
    databaseUrls: string[];
  }
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Gives every worker a migrated database of its own on the server that the project names. Workers of all projects share
 * one row of ids up to the number of workers of the whole run.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // The worker threads of the service run from the build; an old one would be tested in place of the sources.
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: ROOT, stdio: 'inherit' });
  const kind = project.config.env['TEST_DATABASE'] as DatabaseKind;
  const workers = Array.from({ length: project.vitest.config.maxWorkers }, (_, index) => index + 1);
  const { urls, stop } = await (kind === 'embedded'
    ? embeddedFiles(workers)
    : serverDatabases(kind, workers));
  try {
    await Promise.all(urls.map(migrateDatabase));
  } catch (error) {
    await stop();
    throw error;
  }
  project.provide('databaseUrls', urls);
  return stop;
}

interface WorkerDatabases {
  urls: string[];
  stop: () => Promise<void>;
}

async function embeddedFiles(workers: number[]): Promise<WorkerDatabases> {
  const folder = await processFolder(join(tmpdir(), 'svc-embedded'));
  return {
    urls: workers.map((worker) => `sqlite:${join(folder, `worker-${worker}.sqlite`)}`),
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

async function serverDatabases(kind: ServerKind, workers: number[]): Promise<WorkerDatabases> {
  const { databases, missing } = await startDatabases([kind], { fast: true });
  const [server] = databases;
  if (server === undefined) {
    throw new Error(`${kind} is not available: ${missing.map(({ reason }) => reason).join()}`);
  }
  const urls = await Promise.all(workers.map((worker) => scratchDatabase(server.url, databaseName(worker))));
  const stop = async (): Promise<void> => {
    await Promise.all(workers.map((worker) => dropDatabase(server.url, databaseName(worker))));
    await server.stop();
  };
  return { urls, stop };
}

function databaseName(worker: number): string {
  return `svc_test_${process.pid}_${worker}`;
}
