import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * Generates the committed files that are written from code and compares; the files stay as they were.
 *
 *     tsx scripts/check-generated.ts
 */
const GENERATED = [
  { file: 'openapi.json', script: 'openapi' },
  { file: '.env.example', script: 'env:example' },
  { file: 'schemas/application-package.schema.json', script: 'schemas' },
  { file: 'schemas/workflow.schema.json', script: 'schemas' },
  { file: 'schemas/process-graph.schema.json', script: 'schemas' },
  { file: 'schemas/platform.schema.json', script: 'schemas' },
];

let stale = 0;
execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
for (const { file, script } of GENERATED) {
  const committed = existsSync(file) ? readFileSync(file, 'utf8') : '';
  execFileSync('npm', ['run', '--silent', script], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (existsSync(file) && readFileSync(file, 'utf8') === committed) {
    console.log(`${file} is up to date.`);
  } else {
    stale += 1;
    console.log(`${file} differs from the code; run "npm run ${script}" and commit it.`);
    writeFileSync(file, committed);
  }
}
process.exitCode = stale === 0 ? 0 : 1;
