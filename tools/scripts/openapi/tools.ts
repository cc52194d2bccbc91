import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = dirname(fileURLToPath(import.meta.url));

/**
 * Returns the path of a program of this folder. Installs the programs from package-lock.json if necessary. They are not
 * dependencies of the project, since only the OpenAPI check and the client generation use them.
 * @param name name in `node_modules/.bin`
 */
export function openApiTool(name: string): string {
  const lock = join(FOLDER, 'package-lock.json');
  const copy = join(FOLDER, 'node_modules', '.installed-lock.json');
  const wanted = readFileSync(lock, 'utf8');
  if (!existsSync(copy) || readFileSync(copy, 'utf8') !== wanted) {
    execFileSync('npm', ['ci', '--ignore-scripts', '--silent'], { cwd: FOLDER, stdio: 'inherit' });
    execFileSync('cp', [lock, copy]);
  }
  return join(FOLDER, 'node_modules', '.bin', name);
}
