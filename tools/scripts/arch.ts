import { spawnSync } from 'node:child_process';

/** Checks the import rules of dependency-cruiser.cjs, then the rules on source text and on references to documents. */
const imports = spawnSync(
  'depcruise',
  [
    '--config',
    'tools/arch/dependency-cruiser.cjs',
    'src',
    'migrations',
    'packages/client/src',
    'packages/engine/src',
    'packages/console/src',
  ],
  {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
console.log(imports.stdout);
await import('./source-rules.js');
// If dependency-cruiser does not support the installed TypeScript version, it skips every file and reports no violation.
process.exitCode ||= imports.stdout.includes('(0 modules,') ? 1 : (imports.status ?? 1);
