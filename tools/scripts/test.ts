import { spawn, type ChildProcess } from 'node:child_process';
import { parseCLI, startVitest, type TestModule } from 'vitest/node';
import { AreaReporter, seconds, formatTimings } from './test-reporter.js';
import { TESTED_DATABASES, type TestedDatabase } from '../../test/support/databases/server-program.js';
import { reasonNotAvailable } from '../../test/support/databases/start-databases.js';
import { reasonNoVtcombo } from '../../test/support/databases/vtcombo.js';
import { killOnExit } from '../../test/support/databases/process-resources.js';
import { tallyLine, type Tally } from './tally.js';
import { scriptOptions } from './options.js';

/**
 * Builds the service, then runs the unit and integration tests in one pool of workers. Integration tests run on MySQL if results can
 * differ on a server, all others on the embedded database.
 *
 *     npm test
 *     npm test -- systems                 test files whose path contains "systems"
 *     npm test -- --db embedded           integration tests on one database (repeatable, or comma-separated)
 *     npm test -- --busy 8                timing-sensitive tests on the embedded database, with 8 busy loops
 *     npm test -- -- --bail 1             passes everything after the second `--` to vitest
 *     npm run test:all                    the matrix: all tests on MySQL too, and those that can differ on MariaDB, shards and Vitess
 *     npm run test:all -- --rest          the rest of the matrix, and repeats tests without another database: for another Node
 *
 * An unavailable database server is skipped with one line, or fails if CI is set. The last line is
 * `N passed, N failed`, followed by `, N skipped` if any. The exit status is 1 if anything failed or nothing ran.
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

/** Path fragments of timing-sensitive test files, which a busy processor could make fail. */
const TIMING_SENSITIVE = [
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
  console.log(formatTimings(modules));
}
console.log(tallyLine(total));
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);

/** Returns the number of busy loops that run during the tests; 0 without `--busy`. */
function busyLoops(): number {
  if (values.busy === undefined) {
    return 0;
  }
  if (!/^[1-9]\d*$/.test(values.busy)) {
    console.error(`--busy must be a positive integer, not ${values.busy}`);
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
      console.error(`--db must be one of ${TESTED_DATABASES.join(', ')}, not ${name}`);
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

/** Returns why tests cannot run on a database; undefined if they can. */
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
    // Unit tests are repeated only for another Node, so fewer random processes suffice.
    process.env['RANDOM_PROCESSES'] ??= '15';
  }
  const chosen = positionals.length > 0 || busy === 0 ? positionals : TIMING_SENSITIVE;
  const { filter, options } = parseCLI(['vitest', 'run', '--passWithNoTests', ...chosen]);
  if (busy > 0) {
    // The scheduler gives each worker the same share of the processors as each busy loop.
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
    // A file that cannot be loaded, or whose hook fails, fails without a failed test.
    total.failed += failed === 0 && module.state() === 'failed' ? 1 : failed;
  }
  if (chosen === TIMING_SENSITIVE) {
    total.failed += reportNotRun(modules);
  }
  // An error outside a test, such as an unhandled rejection, also fails the run.
  total.failed ||= process.exitCode ? 1 : 0;
  return modules;
}

/** Reports entries of {@link TIMING_SENSITIVE} for which no test file ran. Returns their number. */
function reportNotRun(modules: readonly TestModule[]): number {
  const notRun = TIMING_SENSITIVE.filter((part) => !modules.some(({ moduleId }) => moduleId.includes(part)));
  notRun.forEach((part) => console.error(`${part}: FAILED, no such test file ran`));
  return notRun.length;
}

/** Starts a process that keeps a processor busy until it is killed or its parent ends. */
function busyLoop(): ChildProcess {
  const loop = 'const parent = process.ppid; while (process.ppid === parent);';
  return killOnExit(spawn(process.execPath, ['--eval', loop], { stdio: 'ignore' }));
}

function exec(command: string, args: string[]): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('close', (code) => resolve(code ?? 1));
  });
}
