import { spawn, type ChildProcess } from 'node:child_process';
import { access, rm } from 'node:fs/promises';
import { join, resolve as absolute } from 'node:path';
import { startEvaluation } from '../../test/support/evaluation-service.js';
import { tallyLine, type Tally } from './tally.js';
import { scriptOptions } from './options.js';

/**
 * Sends requests that schemathesis makes from the OpenAPI document to the service in evaluation mode, in all of its phases, and ends with
 * `N passed, N failed`: one for the run with a token, one for the run without.
 */
const PACKAGE = 'schemathesis==4.32.5';
const FOLDER = absolute('.cache', 'schemathesis');
const PROGRAM = join(FOLDER, 'bin', 'schemathesis');

/** Checks that are not made, each with its reason. */
const LEFT_OUT = {
  // A schema cannot say which text is a certificate, a key or an address that may be called, which data a process takes, or that two
  // parameters exclude each other. That such a request is 400 is right.
  positive_data_acceptance: 'a schema cannot say all that makes a request valid',
};

interface Ended {
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

async function run(program: string, args: string[], cwd = '.'): Promise<Ended> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = outputOf(child);
  const status = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null)).once('close', resolve);
  });
  return { status, output: output() };
}

/** @returns why it cannot be had; undefined when it is there */
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

async function sent(url: string, headers: string[], seconds: number): Promise<Ended> {
  const args = [
    'run',
    `${url}/docs-json`,
    ...headers.flatMap((header) => ['--header', header]),
    '--checks',
    'all',
    '--exclude-checks',
    Object.keys(LEFT_OUT).join(','),
    '--mode',
    'all',
    '--phases',
    'examples,coverage,fuzzing,stateful',
    '--max-time',
    String(seconds),
    '--suppress-health-check',
    'all',
    '--request-timeout',
    '60',
    '--no-color',
  ];
  // It leaves files where it runs.
  return run(PROGRAM, args, FOLDER);
}

async function check(seconds: number): Promise<Tally> {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  const service = await startEvaluation({ 'mcpLimits.testTimeoutMs': '1000' });
  try {
    const token = await service.token();
    const runs = { 'with a token': [`Authorization: Bearer ${token}`], 'without a token': [] };
    for (const [name, headers] of Object.entries(runs)) {
      const { status, output } = await sent(
        service.url,
        headers,
        headers.length === 0 ? Math.ceil(seconds / 3) : seconds,
      );
      console.log(status === 0 ? `ok    ${name}` : `FAIL  ${name}\n${output}`);
      tally[status === 0 ? 'passed' : 'failed'] += 1;
    }
  } finally {
    await service.stop();
  }
  return tally;
}

const { values } = scriptOptions({ options: { seconds: { type: 'string', default: '90' } } });
const missing = await install();
if (missing === undefined) {
  const tally = await check(Math.ceil(Number(values.seconds)));
  console.log(tallyLine(tally));
  process.exitCode = tally.failed === 0 ? 0 : 1;
} else {
  console.log(`schemathesis: skipped, ${missing}`);
  console.log(tallyLine({ passed: 0, failed: 0, skipped: 1 }));
}
