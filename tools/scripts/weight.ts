import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptOptions } from './options.js';

/**
 * Prints size figures of the project: lines, settings, migrations, words, and the duration of the tests, which `--tests` measures in a
 * fresh clone. One column per given revision, by default the one before the code was simplified, and one for the last commit.
 *
 *     npm run weight
 *     npm run weight -- HEAD~100 --tests
 */
const { values, positionals } = scriptOptions({
  allowPositionals: true,
  options: { tests: { type: 'boolean', default: false } },
});

/** Revision before the code was simplified. A clone without it prints the last commit only. */
const BEFORE = '85689339';
/** Earlier measurements, in seconds of the tests without the installation. */
const RECORDED = `Recorded on two cores: 1,020 seconds of npm test at ${BEFORE}, 240 seconds at release 1.0 (README.md).`;
const SPECS = ':!*.spec.ts';
/** Functions that return each figure at a revision. */
const FIGURES: Record<string, (revision: string) => number> = {
  'lines of src without specs': (revision) => lines(revision, 'src/*.ts', SPECS),
  'lines of specs, test and proofs': (revision) =>
    lines(
      revision,
      'src/*.spec.ts',
      'packages/*.spec.ts',
      'packages/engine/test',
      'test',
      'tools/proofs',
      'sample/tests',
    ),
  'lines of test/support': (revision) => lines(revision, 'test/support'),
  'lines of packages and tools without tests': (revision) =>
    lines(
      revision,
      'packages',
      'tools',
      'console/src',
      'clients/typescript/src',
      'scripts',
      'bench',
      SPECS,
      ':!packages/engine/test',
      ':!tools/proofs',
    ),
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

const named = positionals.length > 0 ? positionals : [BEFORE].filter(isInClone);
const revisions = [...named, 'HEAD'].map((name) => git('rev-parse', '--short', name).trim());
const width = Math.max(...Object.keys(FIGURES).map((name) => name.length));
console.log([''.padEnd(width), ...revisions.map((revision) => revision.padStart(10))].join(''));
for (const [name, figure] of Object.entries(FIGURES)) {
  const cells = revisions.map((revision) => figure(revision).toLocaleString('en-GB').padStart(10));
  console.log([name.padEnd(width), ...cells].join(''));
}
if (!values.tests) {
  console.log(`${RECORDED} --tests measures npm ci && npm test.`);
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1_024 * 1_024 });
}

function isInClone(revision: string): boolean {
  return spawnSync('git', ['cat-file', '-e', `${revision}^{commit}`], { stdio: 'ignore' }).status === 0;
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
