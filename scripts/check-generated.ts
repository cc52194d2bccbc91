import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * Generates the committed files that are written from code and compares; the files stay as they were.
 *
 *     tsx scripts/check-generated.ts
 */
const GENERATED = [
  { script: 'openapi', files: ['openapi.json'] },
  { script: 'env:example', files: ['.env.example'] },
  {
    script: 'schemas',
    files: ['application-package', 'workflow', 'process-graph', 'platform'].map(
      (name) => `schemas/${name}.schema.json`,
    ),
  },
];
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

let stale = 0;
execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
for (const { script, files } of GENERATED) {
  const committed = files.map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : ''));
  execFileSync('sh', ['-c', withoutBuild(script)], { stdio: ['ignore', 'ignore', 'inherit'] });
  files.forEach((file, index) => compare(file, committed[index] ?? '', script));
}
process.exitCode = stale === 0 ? 0 : 1;

/** The command of a script of package.json; what it would build first has been built. */
function withoutBuild(script: string): string {
  return scripts[script]?.replace(/^npm run -s build && /, '') ?? 'false';
}

function compare(file: string, committed: string, script: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === committed) {
    console.log(`${file} is up to date.`);
  } else {
    stale += 1;
    console.log(`${file} differs from the code; run "npm run ${script}" and commit it.`);
    writeFileSync(file, committed);
  }
}
