import { spawnSync } from 'node:child_process';
import { parseCLI, startVitest } from 'vitest/node';
import { chromiumPath } from '../../test/console/support/chromium.js';
import { reasonNotAvailable } from '../../test/support/databases/start-databases.js';
import { tallyLine, type Tally } from './tally.js';
import { scriptOptions } from './options.js';

/**
 * Tests the console in a browser, with the service on the embedded database or another one.
 *
 *     npm run console:test                            everything
 *     npm run console:test -- home --db mysql         test files whose path contains "home", on one database
 *
 * Tests are skipped if Chromium or MySQL is missing. If CI is set, that is a failure, and root first installs a missing Chromium.
 */
const { values, positionals } = scriptOptions({
  allowPositionals: true,
  options: { db: { type: 'string', multiple: true } },
});
const total: Tally = { passed: 0, failed: 0, skipped: 0 };
const isCi = process.env['CI'] !== undefined;
const DATABASES = ['embedded', 'mysql', 'mariadb'] as const;

if (chromiumPath() === undefined && isCi && process.getuid?.() === 0) {
  installChromium();
}
if (chromiumPath() === undefined) {
  skip('the console: Chromium is not installed');
} else {
  await runTests(await databases());
}
console.log(tallyLine(total));
process.exit(total.failed > 0 || (total.passed === 0 && total.skipped === 0) ? 1 : 0);

function installChromium(): void {
  for (const args of [['update'], ['install', '--yes', '--no-install-recommends', 'chromium']]) {
    spawnSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  }
}

function skip(why: string): void {
  console.log(`${why}: ${isCi ? 'FAILED' : 'skipped'}`);
  total[isCi ? 'failed' : 'skipped'] += 1;
}

async function databases(): Promise<string[]> {
  const chosen = values.db?.flatMap((value) => value.split(',')) ?? ['embedded'];
  const available: string[] = [];
  for (const name of chosen) {
    const kind = DATABASES.find((known) => known === name);
    if (kind === undefined) {
      console.error(`--db must be one of ${DATABASES.join(', ')}, not ${name}`);
      process.exit(2);
    }
    const reason = kind === 'embedded' ? undefined : await reasonNotAvailable(kind);
    if (reason === undefined) {
      available.push(kind);
    } else {
      skip(`the console on ${kind}, ${reason}`);
    }
  }
  return available;
}

async function runTests(names: readonly string[]): Promise<void> {
  process.env['TEST_DATABASE'] = names.join(',');
  const { filter, options } = parseCLI(['vitest', 'run', ...positionals]);
  const vitest = await startVitest('test', filter, { ...options, config: 'test/console/vitest.config.ts' });
  for (const module of vitest.state.getTestModules()) {
    const states = [...module.children.allTests()].map((test) => test.result().state);
    const failed = states.filter((state) => state === 'failed').length;
    total.passed += states.filter((state) => state === 'passed').length;
    total.failed += failed === 0 && module.state() === 'failed' ? 1 : failed;
  }
  total.failed ||= process.exitCode ? 1 : 0;
}
