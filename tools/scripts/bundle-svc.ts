import { build } from 'esbuild';
import { chmod } from 'node:fs/promises';

/** Parts of packages that are there for what the command line does not do, and are looked for only then. */
const ABSENT = ['@nestjs/microservices', '@nestjs/websockets', '@fastify/static'];
/** Packages in the old format ask for others by `require`, which modules have not. */
const HEAD = `#!/usr/bin/env node
import { createRequire as svcRequire } from 'node:module';
const require = svcRequire(import.meta.url);`;

/**
 * Writes the built command line `svc` with all that it needs as one file, which plain Node runs.
 * @param file such as the `bin` of the client package
 */
export async function bundleSvc(file: string): Promise<void> {
  await build({
    entryPoints: ['dist/src/command-line/svc.cli.js'],
    outfile: file,
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
  await chmod(file, 0o755);
}
