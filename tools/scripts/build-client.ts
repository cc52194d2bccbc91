import { execFileSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * Compiles the client with its own strict settings and bundles `svc` from the built service. `npm pack` runs this script
 * first.
 */
const PACKAGE = 'packages/client';
/** The platform-independent client, then the test harness, which requires Node. */
const PROJECTS = ['tsconfig.json', 'tsconfig.testing.json'];
const SVC = join(PACKAGE, 'dist/svc.js');
/** Optional peer dependencies of bundled packages, for features that the command line does not use. */
const ABSENT = ['@nestjs/microservices', '@nestjs/websockets', '@fastify/static'];
/** Bundled CommonJS packages call `require`, which ES modules lack. */
const HEAD = `#!/usr/bin/env node
import { createRequire as svcRequire } from 'node:module';
const require = svcRequire(import.meta.url);`;

for (const project of PROJECTS) {
  execFileSync('tsc', ['-p', join(PACKAGE, project)], { stdio: 'inherit' });
}
await build({
  entryPoints: ['dist/packages/client/src/command-line/svc.cli.js'],
  outfile: SVC,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  banner: { js: HEAD },
  external: ABSENT,
  minify: true,
  keepNames: true,
  legalComments: 'linked',
  logLevel: 'warning',
});
await chmod(SVC, 0o755);
