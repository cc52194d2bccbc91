import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const FILE_NAME = 'evaluation.json';
const OWNER_ONLY = 0o600;

const socketFile = z.object({
  socket: z.string().min(1),
  /** Issuer of those tokens; tells one server from the next. */
  issuer: z.string().min(1),
  pid: z.number(),
});

/** How the evaluation server of a data folder is found. */
export type SocketFile = z.output<typeof socketFile>;

/** @returns what the file in this folder says; undefined when there is none or it is not one of ours */
export async function readSocketFile(dataDir: string): Promise<SocketFile | undefined> {
  try {
    return socketFile.parse(JSON.parse(await readFile(join(dataDir, FILE_NAME), 'utf8')));
  } catch {
    return undefined;
  }
}

/**
 * Writes the file in one step, readable by its owner only. Of several servers that try at once, one succeeds.
 * @returns false when there is such a file already
 */
export async function claimSocketFile(dataDir: string, content: SocketFile): Promise<boolean> {
  await mkdir(dataDir, { recursive: true });
  const draft = join(dataDir, `${FILE_NAME}.${content.pid}`);
  await writeFile(draft, `${JSON.stringify(content)}\n`, { mode: OWNER_ONLY });
  try {
    await link(draft, join(dataDir, FILE_NAME));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      return false;
    }
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes the file, whoever wrote it. */
export function removeSocketFile(dataDir: string): Promise<void> {
  return rm(join(dataDir, FILE_NAME), { force: true });
}
