import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startEvaluation } from '../../test/support/evaluation-service.js';
import { tallyLine } from './tally.js';

/**
 * Builds the client with its own strict settings, packs it, and installs the package in an empty folder. There the code of its README
 * is compiled with the strictest caller settings, its first call and its command line run against the service in evaluation mode, and its
 * first test runs with Node's test runner.
 *
 *     tsx tools/scripts/check-client.ts
 */
const PACKAGE = 'packages/client';
/**
 * Compiler settings of a caller, with the types of Node only. `skipLibCheck` would hide errors in the package's
 * declarations.
 */
const CALLER = {
  compilerOptions: {
    target: 'ES2023',
    lib: ['ES2023'],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    types: ['node'],
    typeRoots: [resolve('node_modules/@types')],
  },
};
const TSC = resolve('node_modules/.bin/tsc');

const [first = '', ...others] = readmeBlocks('ts');
/** The other blocks continue where the first one ends. */
const whole = [first, 'const { buildId } = build;', ...others.map((code) => `{\n${code}\n}`)].join('\n');

run('npm', ['run', '--silent', 'build'], '.');
const folder = mkdtempSync(join(tmpdir(), 'svc-client-'));
const service = await startEvaluation();
let passed = 0;
try {
  const name = run('npm', ['pack', '--silent', '--pack-destination', folder], PACKAGE).trim();
  pass('packs');
  const packed = join(folder, name);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  run('npm', ['install', '--offline', '--silent', '--no-audit', '--no-fund', packed], folder);
  expectEqual(
    readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['@svc'],
  );
  pass('installs without other packages');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CALLER));
  writeFileSync(join(folder, 'first.ts'), first);
  writeFileSync(join(folder, 'whole.ts'), hoistImports(whole));
  mkdirSync(join(folder, 'tests'));
  const [test = ''] = readmeBlocks('js');
  // As TypeScript, to check the types of the harness too.
  writeFileSync(join(folder, 'tests/greeting.test.ts'), test);
  run(TSC, [], folder);
  pass('compiles');
  const env = { SVC_URL: service.url, SVC_TOKEN: await service.token() };
  expectEqual(run(process.execPath, ['first.js'], folder, env), 'STARTED: Complete application\n');
  pass('makes its first call');
  const shown = run('npx', ['--no-install', 'svc', 'show', '--process', 'loan_onboarding'], folder, env);
  expectEqual(/^[\w-]{36} +STARTED +sample +loan_onboarding/m.test(shown), true);
  pass('includes the command line');
  run('npx', ['--no-install', 'svc', 'init', 'application', '--app', 'greeter'], folder, env);
  const home = { SVC_HOME: resolve('.') };
  expectEqual(/^# pass 1$/m.test(run(process.execPath, ['--test'], folder, home)), true);
  pass('runs the first test of an application');
  writeFileSync(join(folder, 'tests/greeting.test.js'), test.replace("'Hello Ada'", "'Hello Eve'"));
  expectEqual(
    throws(() => run(process.execPath, ['--test'], folder, home)),
    true,
  );
  pass('runs a test that fails when the application is wrong');
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
  console.log(tallyLine({ passed, failed: passed === 7 ? 0 : 1, skipped: 0 }));
}

/** Returns the README examples in a language. */
function readmeBlocks(language: string): string[] {
  const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
  return [...readme.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(
    ([, code]) => code ?? '',
  );
}

function throws(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch {
    return true;
  }
}

/** Returns the code with its imports moved to the top. */
function hoistImports(code: string): string {
  const imports: string[] = code.match(/^import .*$/gm) ?? [];
  return [...imports, ...code.split('\n').filter((line) => !imports.includes(line))].join('\n');
}

function run(program: string, args: string[], cwd: string, env: NodeJS.ProcessEnv = {}): string {
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
  try {
    return execFileSync(program, args, { cwd, env: { ...process.env, ...env }, encoding: 'utf8', stdio });
  } catch (error) {
    // The compiler prints its errors to standard output.
    console.log((error as { stdout?: string }).stdout);
    throw error;
  }
}

function pass(what: string): void {
  passed += 1;
  console.log(`ok    the client ${what}`);
}

function expectEqual(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`expected ${JSON.stringify(expected)}, not ${JSON.stringify(actual)}`);
  }
}
