import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DATABASE_KINDS, type DatabaseKind } from '../test/support/databases/database-kind.js';
import { reasonNotAvailable } from '../test/support/databases/start-databases.js';
import { tallyLine, type Tally } from '../test/support/tally.js';

/**
 * Builds the service, then runs the unit tests and the tests against outside parties once, and the integration tests
 * once on each database.
 *
 *     npm test                            everything
 *     npm test -- systems                 test files whose path contains "systems"
 *     npm test -- --db embedded           integration tests on one database (repeatable, or comma-separated)
 *     npm test -- -- --bail 1             what follows the second `--` goes to vitest as it is
 *
 * A database server that cannot be had is skipped with one line; where CI is set it is a failure. The last line is
 * `N passed, N failed`, followed by `, N skipped` if any; the exit status is 1 when anything failed or nothing ran.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { db: { type: 'string', multiple: true } },
});
const total: Tally = { passed: 0, failed: 0, skipped: 0 };

if ((await exec('npm', ['run', '--silent', 'build'])) !== 0) {
  total.failed += 1;
} else {
  await vitest('unit', 'unit tests');
  await vitest('peers', 'tests against outside parties');
  for (const kind of chosenDatabases()) {
    await integration(kind);
  }
}
console.log(tallyLine(total));
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;

function chosenDatabases(): readonly DatabaseKind[] {
  const names = values.db?.flatMap((value) => value.split(',')) ?? [...DATABASE_KINDS];
  return names.map((name) => {
    const kind = DATABASE_KINDS.find((known) => known === name);
    if (kind === undefined) {
      console.error(`--db takes ${DATABASE_KINDS.join(', ')}; not ${name}`);
      process.exit(2);
    }
    return kind;
  });
}

async function integration(kind: DatabaseKind): Promise<void> {
  const reason = kind === 'embedded' ? undefined : await reasonNotAvailable(kind);
  if (reason === undefined) {
    await vitest('integration', `integration tests on ${kind}`, { TEST_DATABASE: kind });
  } else if (process.env['CI']) {
    console.error(`integration tests on ${kind}: FAILED, ${reason}`);
    total.failed += 1;
  } else {
    console.log(`integration tests on ${kind}: skipped, ${reason}`);
    total.skipped += 1;
  }
}

async function vitest(project: string, title: string, env: Record<string, string> = {}): Promise<void> {
  const report = join(tmpdir(), `svc-vitest-${randomUUID()}.json`);
  console.log(`\n== ${title}`);
  const status = await exec(
    'vitest',
    [
      'run',
      `--project=${project}`,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      '--passWithNoTests',
      ...positionals,
    ],
    env,
  );
  const tally = await readReport(report);
  await rm(report, { force: true });
  // An error outside a test, such as an unhandled rejection, fails the run without failing a test.
  tally.failed ||= status === 0 ? 0 : 1;
  total.passed += tally.passed;
  total.failed += tally.failed;
  total.skipped += tally.skipped;
}

/** Part of vitest's JSON report. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

async function readReport(path: string): Promise<Tally> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) {
    return { passed: 0, failed: 0, skipped: 0 };
  }
  const report = JSON.parse(text) as Report;
  const unloadable = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloadable.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

function exec(command: string, args: string[], env: Record<string, string> = {}): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  return new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('close', (code) => resolve(code ?? 1));
  });
}
