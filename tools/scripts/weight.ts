import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptOptions } from './options.js';

/**
 * Prints size figures of the project: lines, settings, migrations, and with `--tests` the duration of the README's test command
 * in a fresh clone. One column per given revision, and one for the last commit.
 *
 *     npm run weight
 *     npm run weight -- 85689339 --tests
 */
const { values, positionals } = scriptOptions({
  allowPositionals: true,
  options: { tests: { type: 'boolean', default: false } },
});

const SPECS = ':!*.spec.ts';
/** Functions that return each figure at a revision. */
const FIGURES: Record<string, (revision: string) => number> = {
  'lines of src without specs': (revision) => lines(revision, 'src/*.ts', SPECS),
  'lines of specs and test': (revision) => lines(revision, 'src/*.spec.ts', 'test', 'sample/tests'),
  'lines of test/support': (revision) => lines(revision, 'test/support'),
  'lines of packages and tools': (revision) =>
    lines(revision, 'packages', 'tools', 'console/src', 'clients/typescript/src', 'scripts', 'bench', SPECS),
  settings: (revision) => count(revision, '^[A-Z][A-Z0-9_]+=', '.env.example'),
  'files of migrations': (revision) =>
    git('ls-tree', '-r', '--name-only', revision, 'migrations').split('\n').filter(isMigration).length,
  'words of docs, README, CONTRIBUTING': (revision) =>
    git('ls-tree', '-r', '--name-only', revision, 'docs', 'README.md', 'CONTRIBUTING.md')
      .split('\n')
      .filter((path) => path.endsWith('.md'))
      .reduce((sum, path) => sum + git('show', `${revision}:${path}`).split(/\s+/).length, 0),
  ...(values.tests ? { 'seconds of npm ci && npm test': secondsOfTests } : {}),
};

const revisions = [...positionals, 'HEAD'].map((name) => git('rev-parse', '--short', name).trim());
const width = Math.max(...Object.keys(FIGURES).map((name) => name.length));
console.log([''.padEnd(width), ...revisions.map((revision) => revision.padStart(10))].join(''));
for (const [name, figure] of Object.entries(FIGURES)) {
  const cells = revisions.map((revision) => figure(revision).toLocaleString('en-GB').padStart(10));
  console.log([name.padEnd(width), ...cells].join(''));
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1_024 * 1_024 });
}

function lines(revision: string, ...paths: string[]): number {
  return count(revision, '', ...paths);
}

/** Returns the number of matching lines in the text files below the paths. */
function count(revision: string, pattern: string, ...paths: string[]): number {
  const { stdout } = spawnSync('git', ['grep', '-I', '-cE', pattern, revision, '--', ...paths], {
    encoding: 'utf8',
    maxBuffer: 64 * 1_024 * 1_024,
  });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(':') + 1)), 0);
}

function isMigration(path: string): boolean {
  return /\/\d[^/]*\.ts$/.test(path) && !path.endsWith('.spec.ts');
}

function secondsOfTests(revision: string): number {
  const folder = mkdtempSync(join(tmpdir(), 'svc-weight-'));
  try {
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', '.', folder]);
    execFileSync('git', ['checkout', '--quiet', revision], { cwd: folder });
    const start = performance.now();
    const { status } = spawnSync('sh', ['-c', 'npm ci && npm test'], {
      cwd: folder,
      stdio: ['ignore', 2, 2],
    });
    if (status !== 0) {
      console.error(`The tests of ${revision} failed.`);
      process.exitCode = 1;
    }
    return Math.round((performance.now() - start) / 1_000);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
