import { spawnSync } from 'node:child_process';

/** Checks the import rules of .dependency-cruiser.cjs, then the rules on source text and on references to documents. */
const imports = spawnSync(
  'depcruise',
  ['--config', '.dependency-cruiser.cjs', 'src', 'migrations', 'clients/typescript/src', 'console/src'],
  {
    stdio: 'inherit',
  },
);
await import('./source-rules.js');
process.exitCode ||= imports.status ?? 1;
