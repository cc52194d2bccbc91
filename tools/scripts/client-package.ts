import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleSvc } from './bundle-svc.js';

const PACKAGE = 'packages/client';
const TSC = resolve('node_modules/.bin/tsc');
/** The client without what only Node has, and what tests are written with. */
const PROJECTS = ['tsconfig.json', 'tsconfig.testing.json'];

/** Compiles the client under its own strict settings, and bundles its command line from the built service. */
export async function buildClient(): Promise<void> {
  for (const project of PROJECTS) {
    run(TSC, ['-p', join(PACKAGE, project)], '.');
  }
  await bundleSvc(join(PACKAGE, 'dist/svc.js'));
}

/**
 * Packs the built client.
 * @param folder where the package comes to; it exists
 * @returns path of the package
 */
export function packClient(folder: string): string {
  run('npm', ['pack', '--silent', '--pack-destination', resolve(folder)], PACKAGE);
  const name = readdirSync(folder).find((file) => /^svc-client-.*\.tgz$/.test(file)) ?? '';
  return join(folder, name);
}

function run(program: string, args: string[], cwd: string): void {
  execFileSync(program, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
}
