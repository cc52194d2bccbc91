import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = dirname(fileURLToPath(import.meta.url));

/**
 * Where a program of this folder is; the first time they are installed as package-lock.json says. They are apart from those of the
 * project, since nothing but the check of openapi.json and the making of the client needs them.
 * @param name as in `node_modules/.bin`
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
