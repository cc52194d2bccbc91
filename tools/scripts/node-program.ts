import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, putInPlace } from '../../test/support/databases/debian-package.js';
import { processFolder } from '../../test/support/databases/process-resources.js';

/**
 * Returns the path of the Node release named in `tools/.nvmrc`, installed from npm for this machine into the user's cache folder.
 */
export async function nodeProgram(): Promise<string> {
  const version = (await readFile('tools/.nvmrc', 'utf8')).trim();
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(dirname(cacheFolder()), `${name}-${version}`);
  const program = join(folder, 'node_modules', name, 'bin/node');
  if (!existsSync(program)) {
    await mkdir(dirname(folder), { recursive: true });
    const work = await processFolder(`${folder}.building`);
    await promisify(execFile)('npm', ['install', '--prefix', work, '--silent', `${name}@${version}`]);
    await putInPlace(work, folder);
  }
  return program;
}
