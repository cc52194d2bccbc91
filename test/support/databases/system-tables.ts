import { existsSync } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bootstrap } from './bootstrap.js';
import { cacheFolder, putInPlace } from './debian-package.js';
import { processFolder } from './process-folder.js';
import type { ServerProgram } from './server-program.js';

/** MySQL's file with the identity of a server, which makes a new one where it finds none. */
const IDENTITY = 'auto.cnf';

/**
 * Fills a data folder with a server's system tables. They are created once for each version of a server, kept in the
 * user's cache folder, and copied from there.
 * @param dataDir folder that does not exist
 * @throws Error when they cannot be created or copied
 */
export async function systemTables(program: ServerProgram, dataDir: string): Promise<void> {
  const kept = keptTables(program);
  if (!existsSync(kept)) {
    await create(program, kept);
  }
  await cp(kept, dataDir, { recursive: true });
}

/** Removes what {@link systemTables} has kept: a server did not start on a copy. */
export async function forgetSystemTables(program: ServerProgram): Promise<void> {
  await rm(keptTables(program), { recursive: true, force: true });
}

function keptTables({ kind, version }: ServerProgram): string {
  return join(cacheFolder(), `${kind}-tables-${version.replaceAll(/[^\w.+-]+/g, '-')}`);
}

async function create(program: ServerProgram, kept: string): Promise<void> {
  await mkdir(dirname(kept), { recursive: true });
  const work = await processFolder(`${kept}.building`);
  try {
    const data = join(work, 'data');
    await mkdir(data);
    await bootstrap(program, data);
    await rm(join(data, IDENTITY), { force: true });
    await putInPlace(data, kept);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
