import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Creates a folder that carries the process id in its name, and removes the folders that ended processes left behind
 * under the same prefix because they were killed.
 * @param prefix absolute path and start of the name
 */
export async function processFolder(prefix: string): Promise<string> {
  const parent = dirname(prefix);
  const start = `${basename(prefix)}-`;
  for (const name of await readdir(parent)) {
    const owner = name.startsWith(start) ? Number(name.slice(start.length).split('-')[0]) : Number.NaN;
    if (Number.isInteger(owner) && !isAlive(owner)) {
      await rm(join(parent, name), { recursive: true, force: true });
    }
  }
  return mkdtemp(`${prefix}-${process.pid}-`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
