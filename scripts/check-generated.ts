import { execFileSync, type ExecFileSyncOptions } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * Builds, generates the committed files that are written from code, and compares; the files stay as they were.
 *
 *     tsx scripts/check-generated.ts
 */
const GENERATED = [
  { script: 'openapi', command: 'dist/src/openapi.cli.js', files: ['openapi.json'] },
  { script: 'env:example', command: 'dist/src/config/env-example.cli.js', files: ['.env.example'] },
  {
    script: 'schemas',
    command: 'dist/src/schemas.cli.js',
    files: ['application-package', 'workflow', 'process-graph', 'platform'].map(
      (name) => `schemas/${name}.schema.json`,
    ),
  },
];

let stale = 0;
const output: ExecFileSyncOptions = { stdio: ['ignore', 'ignore', 'inherit'] };
execFileSync('npm', ['run', '--silent', 'build'], output);
for (const { script, command, files } of GENERATED) {
  const committed = files.map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : ''));
  execFileSync(process.execPath, [command], output);
  files.forEach((file, index) => compare(file, committed[index] ?? '', script));
}
process.exitCode = stale === 0 ? 0 : 1;

function compare(file: string, committed: string, script: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === committed) {
    console.log(`${file} is up to date.`);
  } else {
    stale += 1;
    console.log(`${file} differs from the code; run "npm run ${script}" and commit it.`);
    writeFileSync(file, committed);
  }
}
