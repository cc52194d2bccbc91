import { spawn, type ChildProcess } from 'node:child_process';
import { access, readFile, rm } from 'node:fs/promises';
import { join, resolve as absolute } from 'node:path';
import { startEvaluation } from '../../test/support/evaluation-service.js';
import { tallyLine, type Tally } from './tally.js';
import { scriptOptions } from './options.js';

/**
 * Sends requests that schemathesis generates from the OpenAPI document to the service in evaluation mode. Ends with
 * `N passed, N failed`: one check with a token and one without. The seed is fixed, so failures are reproducible.
 */
const PACKAGE = 'schemathesis==4.32.5';
const FOLDER = absolute('.cache', 'schemathesis');
const PROGRAM = join(FOLDER, 'bin', 'schemathesis');

/** Excluded checks with their reasons. */
const EXCLUDED_CHECKS = {
  // A schema cannot express which text is a valid certificate, key or permitted address, which data a process accepts, or
  // that two parameters exclude each other. Responding 400 to such a request is correct.
  positive_data_acceptance: 'a schema cannot express all conditions of a valid request',
};

const SEED = 1;
/**
 * Most requests belong to the phase `coverage`, which generates each kind of valid and invalid value. Without a token all
 * requests are rejected alike, so fewer phases suffice.
 */
const PHASES = {
  withToken: ['examples', 'coverage', 'fuzzing', 'stateful'],
  withoutToken: ['examples', 'fuzzing'],
};
const EXAMPLES = '2';
const REPORT = join(FOLDER, 'report.json');

/** The part of a schemathesis report that is checked. */
interface Report {
  operations: { total: number; tested: number };
  phases: Record<string, { status: string }>;
}

interface RunResult {
  status: number | null;
  output: string;
}

function outputOf(child: ChildProcess): () => string {
  let output = '';
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  return () => output;
}

async function run(program: string, args: string[], cwd = '.'): Promise<RunResult> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = outputOf(child);
  const status = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null)).once('close', resolve);
  });
  return { status, output: output() };
}

/** Installs schemathesis unless it is installed. Returns the reason if that is not possible, otherwise undefined. */
async function install(): Promise<string | undefined> {
  try {
    await access(PROGRAM);
    return undefined;
  } catch {
    const isNew = 'import sys; sys.exit(sys.version_info < (3, 10))';
    if ((await run('python3', ['-c', isNew])).status !== 0) {
      return 'Python 3.10 or newer is missing';
    }
    const made = await run('python3', ['-m', 'venv', FOLDER]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', PACKAGE];
    const installed = made.status === 0 && (await run(join(FOLDER, 'bin', 'python'), pip)).status === 0;
    if (!installed) {
      await rm(FOLDER, { recursive: true, force: true });
    }
    return installed ? undefined : 'it could not be installed from PyPI';
  }
}

/** Parameters of a schemathesis run. */
interface Plan {
  headers: string[];
  phases: readonly string[];
  examples: string;
}

async function runSchemathesis(url: string, { headers, phases, examples }: Plan): Promise<RunResult> {
  const args = [
    'run',
    `${url}/docs-json`,
    ...headers,
    '--checks',
    'all',
    '--exclude-checks',
    Object.keys(EXCLUDED_CHECKS).join(','),
    '--mode',
    'all',
    '--phases',
    phases.join(','),
    '--max-examples',
    examples,
    '--seed',
    String(SEED),
    '--generation-database',
    'none',
    '--report',
    'json',
    '--report-json-path',
    REPORT,
    '--suppress-health-check',
    'all',
    // Reveal a request that hangs, not a slow machine.
    '--request-timeout',
    '60',
    '--max-response-time',
    '60',
    '--no-color',
  ];
  await rm(REPORT, { force: true });
  // It leaves files in its working directory.
  return run(PROGRAM, args, FOLDER);
}

/** Returns the phases and operations that a run left out, which schemathesis does not report as a failure. */
async function leftOut(wanted: readonly string[]): Promise<string[]> {
  const { operations, phases } = JSON.parse(await readFile(REPORT, 'utf8')) as Report;
  const notRun = wanted.filter((phase) => phases[phase]?.status !== 'success');
  return [
    ...notRun.map((phase) => `the phase ${phase}: ${phases[phase]?.status ?? 'not run'}`),
    ...(operations.tested > 0 && operations.tested === operations.total
      ? []
      : [`${operations.tested} of ${operations.total} operations were reached`]),
  ];
}

async function check(examples: string): Promise<Tally> {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  const service = await startEvaluation({ 'mcpLimits.testTimeoutMs': '1000' });
  try {
    const token = await service.token();
    const runs: Record<string, Plan> = {
      'with a token': {
        headers: ['--header', `Authorization: Bearer ${token}`],
        phases: PHASES.withToken,
        examples,
      },
      'without a token': { headers: [], phases: PHASES.withoutToken, examples },
    };
    for (const [name, plan] of Object.entries(runs)) {
      const { status, output } = await runSchemathesis(service.url, plan);
      const problems = status === 0 ? await leftOut(plan.phases) : [output];
      console.log(problems.length === 0 ? `ok    ${name}` : `FAIL  ${name}\n${problems.join('\n')}`);
      tally[problems.length === 0 ? 'passed' : 'failed'] += 1;
    }
  } finally {
    await service.stop();
  }
  return tally;
}

const { values } = scriptOptions({ options: { examples: { type: 'string', default: EXAMPLES } } });
const missing = await install();
if (missing === undefined) {
  const tally = await check(values.examples);
  console.log(tallyLine(tally));
  process.exitCode = tally.failed === 0 ? 0 : 1;
} else {
  console.log(`schemathesis: skipped, ${missing}`);
  console.log(tallyLine({ passed: 0, failed: 0, skipped: 1 }));
}
