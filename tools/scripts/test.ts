import { spawn, type ChildProcess } from 'node:child_process';
import { parseCLI, startVitest, type TestModule } from 'vitest/node';
import { AreaReporter, seconds, whereTheTimeWent } from './test-reporter.js';
import { TESTED_DATABASES, type TestedDatabase } from '../../test/support/databases/server-program.js';
import { reasonNotAvailable } from '../../test/support/databases/start-databases.js';
import { reasonNoVtcombo } from '../../test/support/databases/vtcombo.js';
import { endsWithUs } from '../../test/support/databases/process-resources.js';
import { tallyLine, type Tally } from './tally.js';
import { scriptOptions } from './options.js';

/**
 * Builds the service, then runs the tests in one pool of workers: the unit tests, and the integration tests, on MySQL where a
 * server can treat their statements otherwise, and on the embedded database.
 *
 *     npm test
 *     npm test -- systems                 test files whose path contains "systems"
 *     npm test -- --db embedded           integration tests on one database (repeatable, or comma-separated)
 *     npm test -- --busy 8                tests that wait, on the embedded database, beside 8 busy loops
 *     npm test -- -- --bail 1             what follows the second `--` goes to vitest as it is
 *     npm run test:all                    the matrix: all on MySQL too, and what differs on MariaDB, shards and Vitess
 *     npm run test:all -- --rest          the rest of the matrix, and once more what has no other database: for another Node
 *
 * A database server that cannot be had is skipped with one line; where CI is set it is a failure. The last line is
 * `N passed, N failed`, followed by `, N skipped` if any; the exit status is 1 when anything failed or nothing ran.
 */
const { values, positionals } = scriptOptions({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    rest: { type: 'boolean', default: false },
    db: { type: 'string', multiple: true },
    busy: { type: 'string' },
  },
});

/** Parts of paths: test files in which something has a time that the processor may be late for. */
const WAITING = [
  'health/metrics',
  'jobs/job-leases',
  'mcp-connection/credentials',
  'integration/process-runtime/background',
  'quotas/quotas',
  'tools/refresh',
  'workflows/cancelled-runs',
];

const total: Tally = { passed: 0, failed: 0, skipped: 0 };
const busy = busyLoops();
const started = performance.now();

if ((await exec('npm', ['run', '--silent', 'build'])) !== 0) {
  total.failed += 1;
} else {
  const built = performance.now();
  const modules = await runTests(await availableDatabases());
  console.log(`\nBuild: ${seconds(built - started)}. Tests: ${seconds(performance.now() - built)}.`);
  console.log(whereTheTimeWent(modules));
}
console.log(tallyLine(total));
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);

/** @returns how many busy loops run beside the tests; 0 without `--busy` */
function busyLoops(): number {
  if (values.busy === undefined) {
    return 0;
  }
  if (!/^[1-9]\d*$/.test(values.busy)) {
    console.error(`--busy takes a whole number above 0; not ${values.busy}`);
    process.exit(2);
  }
  return Number(values.busy);
}

function chosenDatabases(): readonly TestedDatabase[] {
  const all: readonly TestedDatabase[] =
    busy > 0 ? ['embedded'] : values.all ? TESTED_DATABASES : ['embedded', 'mysql'];
  const names = values.db?.flatMap((value) => value.split(',')) ?? all;
  return names.map((name) => {
    const kind = TESTED_DATABASES.find((known) => known === name);
    if (kind === undefined) {
      console.error(`--db takes ${TESTED_DATABASES.join(', ')}; not ${name}`);
      process.exit(2);
    }
    return kind;
  });
}

async function availableDatabases(): Promise<TestedDatabase[]> {
  const available: TestedDatabase[] = [];
  for (const kind of chosenDatabases()) {
    const reason = await reasonOf(kind);
    if (reason === undefined) {
      available.push(kind);
    } else if (process.env['CI']) {
      console.error(`integration tests on ${kind}: FAILED, ${reason}`);
      total.failed += 1;
    } else {
      console.log(`integration tests on ${kind}: skipped, ${reason}`);
      total.skipped += 1;
    }
  }
  return available;
}

/** Why tests cannot run on a database; undefined when they can. */
async function reasonOf(kind: TestedDatabase): Promise<string | undefined> {
  if (kind !== 'vitess') {
    return kind === 'embedded' ? undefined : reasonNotAvailable(kind);
  }
  return (await reasonNoVtcombo(true)) ?? reasonNotAvailable('mysql');
}

async function runTests(databases: readonly TestedDatabase[]): Promise<readonly TestModule[]> {
  process.env['TEST_DATABASE'] = databases.join(',');
  process.env['TEST_BUILT'] = 'true';
  if (values.all || values.db !== undefined) {
    process.env['TEST_MATRIX'] = values.rest ? 'rest' : 'all';
  }
  if (values.rest) {
    // Unit tests run once more for another Node alone.
    process.env['RANDOM_PROCESSES'] ??= '15';
  }
  const chosen = positionals.length > 0 || busy === 0 ? positionals : WAITING;
  const { filter, options } = parseCLI(['vitest', 'run', '--passWithNoTests', ...chosen]);
  if (busy > 0) {
    // They have a share of the processors for each worker, as the loops have.
    process.env['VITEST_MAX_WORKERS'] ??= '8';
  }
  const loops = Array.from({ length: busy }, busyLoop);
  const vitest = await startVitest('test', filter, {
    project: ['unit', 'engine', 'driverless', 'integration*', ...(values.all ? ['shards'] : [])],
    reporters: [new AreaReporter()],
    silent: 'passed-only',
    ...options,
  });
  const modules = vitest.state.getTestModules();
  loops.forEach((loop) => loop.kill('SIGKILL'));
  for (const module of modules) {
    const states = [...module.children.allTests()].map((test) => test.result().state);
    const failed = states.filter((state) => state === 'failed').length;
    total.passed += states.filter((state) => state === 'passed').length;
    total.skipped += states.filter((state) => state === 'skipped').length;
    // A file that could not be loaded, or whose hook failed, fails without failing a test.
    total.failed += failed === 0 && module.state() === 'failed' ? 1 : failed;
  }
  if (chosen === WAITING) {
    total.failed += reportNotRun(modules);
  }
  // So does the run of an error outside a test, such as an unhandled rejection.
  total.failed ||= process.exitCode ? 1 : 0;
  return modules;
}

/** @returns how many entries of {@link WAITING} name no test file that ran, each told with a line */
function reportNotRun(modules: readonly TestModule[]): number {
  const notRun = WAITING.filter((part) => !modules.some(({ moduleId }) => moduleId.includes(part)));
  notRun.forEach((part) => console.error(`${part}: FAILED, no such test file ran`));
  return notRun.length;
}

/** Takes as much of a processor as it gets, until it is ended or nobody is left who could. */
function busyLoop(): ChildProcess {
  const loop = 'const parent = process.ppid; while (process.ppid === parent);';
  return endsWithUs(spawn(process.execPath, ['--eval', loop], { stdio: 'ignore' }));
}

function exec(command: string, args: string[]): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('close', (code) => resolve(code ?? 1));
  });
}
