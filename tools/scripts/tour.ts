import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, exitOnSignals } from '../../test/support/databases/process-resources.js';
import { tallyLine } from './tally.js';

/**
 * Runs the shell blocks of docs/tour.md, or of another document such as docs/first-application.md, in order, against a fresh evaluation
 * server in a temporary folder and a real MCP server, both on free ports. Compares the output of each block with the following `text`
 * block: `…` matches any part of a line, a line with only `…` matches any lines, and a step without a `text` block must print nothing.
 * At the end of docs/tour.md two tools must be disabled. Ends with `N passed, N failed` and stops at the first command that fails.
 *
 *     tsx tools/scripts/tour.ts            in bash
 *     tsx tools/scripts/tour.ts --zsh      in zsh
 *     tsx tools/scripts/tour.ts docs/first-application.md
 */
const STEP =
  /(?:<!-- tour: background until "(?<ready>[^"]+)" -->\n\n)?```sh\n(?<commands>.*?)```\n(?:\n```text\n(?<expected>.*?)```\n)?/gs;
const STEP_TIMEOUT_MS = 300_000;
const END_OF_STEP = '-- end of step';
const DISABLED_TOOLS = 'echo, get-env';
const TOUR = 'docs/tour.md';

interface Step {
  commands: string;
  /** Text that a background command prints when it is ready. */
  ready: string | undefined;
  /** Expected output. */
  expected: string | undefined;
}

interface Output {
  text: string;
}

const [document = TOUR] = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const shell = process.argv.includes('--zsh') ? 'zsh' : 'bash';
const dataDir = await mkdtemp(join(tmpdir(), 'svc-tour-'));
const environment = {
  ...process.env,
  DATA_DIR: dataDir,
  PORT: String(await freePort()),
  MCP_PORT: String(await freePort()),
  SYSTEMS_PORT: String(await freePort()),
  FIRST: join(dataDir, 'first'),
};
const children: ChildProcess[] = [];
let passed = 0;
let failed = 0;
let failure: unknown;
exitOnSignals();
process.once('exit', () => children.forEach((child) => signal(child, 'SIGKILL')));
try {
  await takeTour(readTour(await readFile(document, 'utf8')));
} catch (error) {
  failure = error;
} finally {
  await Promise.all(children.map(stop));
  await rm(dataDir, { recursive: true, force: true });
}
if (failure !== undefined) {
  failed += 1;
  console.log(failure instanceof Error ? failure.message : failure);
}
console.log(tallyLine({ passed, failed, skipped: 0 }));
process.exit(failed === 0 ? 0 : 1);

function readTour(text: string): Step[] {
  const steps = [...text.matchAll(STEP)].map(({ groups }) => ({
    commands: groups?.['commands'] ?? '',
    ready: groups?.['ready'],
    expected: groups?.['expected'],
  }));
  if (steps.length === 0) {
    throw new Error(`${document} has no tour.`);
  }
  return steps;
}

async function takeTour(steps: Step[]): Promise<void> {
  const terminal = start(shell, ['-s']);
  // One stream, so that the output is in the order in which a person sees it.
  terminal.child.stdin?.write('exec 2>&1\n');
  // Background commands start concurrently; the next regular step waits until all of them are ready.
  const backgroundSteps: Promise<void>[] = [];
  for (const step of steps) {
    const title = step.commands.trim().split('\n')[0] ?? '';
    if (step.ready === undefined) {
      await Promise.all(backgroundSteps);
      const printed = await runIn(terminal, step.commands);
      report(title, differenceOf(printed, step.expected ?? ''));
    } else {
      const { output } = start(shell, ['-c', step.commands]);
      backgroundSteps.push(until(output, step.ready, title).then(() => report(title, undefined)));
    }
  }
  if (document === TOUR) {
    await checkEndState();
    report(`${DISABLED_TOOLS} are disabled`, undefined);
  }
}

function report(title: string, difference: string | undefined): void {
  if (difference === undefined) {
    passed += 1;
    console.log(`ok    ${title}`);
  } else {
    failed += 1;
    console.log(`FAIL  ${title}\n${difference}`);
  }
}

/** Starts a command in its own process group, so that its children can be stopped with it. */
function start(program: string, args: string[]): { child: ChildProcess; output: Output } {
  const child = spawn(program, args, { env: environment, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const output = { text: '' };
  const collect = (chunk: Buffer): void => {
    output.text += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  child.once('error', (error) => (output.text += `\n${error.message}\n`));
  children.push(child);
  return { child, output };
}

/** Runs commands in sequence in the tour's terminal; the first failure ends the terminal. */
async function runIn({ child, output }: ReturnType<typeof start>, commands: string): Promise<string> {
  const from = output.text.length;
  child.stdin?.write(`set -e -o pipefail\n${commands}\necho '${END_OF_STEP}'\n`);
  await until(output, END_OF_STEP, commands, { from, child });
  return output.text.slice(from, output.text.indexOf(END_OF_STEP, from));
}

async function until(
  output: Output,
  wanted: string,
  title: string,
  { from = 0, child }: { from?: number; child?: ChildProcess } = {},
): Promise<void> {
  const deadline = Date.now() + STEP_TIMEOUT_MS;
  while (!output.text.includes(wanted, from)) {
    if (Date.now() > deadline || (child !== undefined && child.exitCode !== null)) {
      throw new Error(`FAIL  ${title}\n${output.text.slice(from)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Returns the expected and the actual output, or undefined if they match. */
function differenceOf(printed: string, expected: string): string | undefined {
  return patternOf(expected).test(printed) ? undefined : `expected\n${expected}but got\n${printed}`;
}

/**
 * Returns a pattern for an entire block: a line with only `…` matches any lines, any other `…` matches any text in its
 * line.
 */
function patternOf(block: string): RegExp {
  const lines = block.split(/(?<=\n)/).map((line) => {
    const parts = line.split('…').map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
    return line === '…\n' ? String.raw`(?:.*\n)*` : parts.join('.*');
  });
  return new RegExp(`^${lines.join('')}$`);
}

/** Checks with the service's API that exactly these tools are disabled. */
async function checkEndState(): Promise<void> {
  const { child, output } = start('npm', ['run', '-s', 'dev:token']);
  await new Promise((resolve) => child.once('close', resolve));
  const token = output.text.trim().split('\n').at(-1) ?? '';
  const base = `http://127.0.0.1:${environment.PORT}/appmanager/api/resource/app/sample/app-version/v1/rt/system`;
  const get = async (path: string): Promise<unknown> =>
    (await fetch(`${base}/${path}`, { headers: { Authorization: `Bearer ${token}` } })).json();
  const { systems } = (await get('include-dep-res/integration/api/systems/all/info')) as {
    systems: { resourceId: string; type: string }[];
  };
  const server = systems.find(({ type }) => type === 'MCP');
  const { tools } = (await get(`ri/${server?.resourceId}/integration/api/systems/getById`)) as {
    tools: { name: string; enabled: boolean }[];
  };
  const off = tools.filter(({ enabled }) => !enabled).map(({ name }) => name);
  if (off.join(', ') !== DISABLED_TOOLS) {
    throw new Error(`FAIL  disabled tools at the end: ${off.join(', ') || 'nothing'}`);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('close', resolve));
  if (signal(child, 'SIGTERM')) {
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 10_000))]);
  }
}

/** Sends a signal to a child's process group. Returns false if the child has already ended. */
function signal(child: ChildProcess, name: NodeJS.Signals): boolean {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
    return false;
  }
  process.kill(-child.pid, name);
  return true;
}
