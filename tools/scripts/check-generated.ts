import { execFileSync, type ExecFileSyncOptions } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLIENT_FOLDER, generateClient } from './openapi/client.js';

/**
 * Checks that the committed generated files match the code. Builds, generates and compares them, then restores the files.
 *
 *     tsx tools/scripts/check-generated.ts
 */
const GENERATED = [
  { script: 'openapi', command: 'dist/src/openapi.cli.js', files: ['openapi.json'] },
  { script: 'env:example', command: 'dist/src/platform/config/env-example.cli.js', files: ['.env.example'] },
  {
    script: 'schemas',
    command: 'dist/src/schemas.cli.js',
    files: [
      ...['application-package', 'workflow', 'process-graph', 'platform'].map(
        (name) => `docs/schemas/${name}.schema.json`,
      ),
      'packages/modeler/svc.json',
    ],
  },
];

let stale = 0;
const output: ExecFileSyncOptions = { stdio: ['ignore', 'ignore', 'inherit'] };
execFileSync('npm', ['run', '--silent', 'build'], output);
for (const { script, command, files } of GENERATED) {
  const committed = files.map(textOf);
  execFileSync(process.execPath, [command], output);
  files.forEach((file, index) => {
    const isEqual = textOf(file) === committed[index];
    report(file, isEqual, script);
    if (!isEqual) {
      writeFileSync(file, committed[index] ?? '');
    }
  });
}
const folder = mkdtempSync(join(tmpdir(), 'svc-generated-'));
try {
  generateClient(folder);
  report(CLIENT_FOLDER, contentsOf(folder) === contentsOf(CLIENT_FOLDER), 'client');
} finally {
  rmSync(folder, { recursive: true });
}
process.exitCode = stale === 0 ? 0 : 1;

function report(file: string, isEqual: boolean, script: string): void {
  stale += isEqual ? 0 : 1;
  console.log(
    isEqual
      ? `${file} is up to date.`
      : `${file} differs from the code; run "npm run ${script}" and commit it.`,
  );
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** Returns the names and contents of all files in a folder. */
function contentsOf(root: string): string {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  return JSON.stringify(paths.map((path) => [path.slice(root.length), textOf(path)]));
}
