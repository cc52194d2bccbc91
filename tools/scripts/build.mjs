// @ts-check
import { parseArgs } from 'node:util';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

/**
 * Compiles the service into a new folder, then replaces `dist` with it, so that programs that run or start from `dist` meanwhile see
 * complete files. If the compilation fails, the previous files remain. Does nothing if `dist` is up to date. Written in JavaScript
 * because this check, which runs with every `npm run`, must not wait for a compiler.
 *
 *     node tools/scripts/build.mjs           prints nothing
 *     node tools/scripts/build.mjs --verbose prints a line when it compiles
 */
const DIST = 'dist';
/** Must be a sibling of DIST, since source maps refer to the sources by relative paths. */
const NEXT = `${DIST}.next-${process.pid}`;
const BEFORE = `${DIST}.before-${process.pid}`;
/** File in `dist` with fingerprints of the inputs and outputs. */
const STAMP = '.build.json';
/** The console, which runs in browsers, and its build configuration. */
const CONSOLE = 'packages/console';
const CONSOLE_CONFIG = join(CONSOLE, 'vite.config.ts');
const BUNDLER = 'tools/scripts/bundle.mjs';
/** Inputs of a compilation: source files, and the installed packages. */
const INPUTS = [
  'src',
  'migrations',
  'packages/client/src',
  'packages/engine/src',
  CONSOLE,
  'tools/scripts/build.mjs',
  BUNDLER,
  'tsconfig.json',
  'tools/tsconfig.build.json',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
];
/** Files excluded by tools/tsconfig.build.json. */
const NOT_COMPILED = /^(src|packages\/\w+\/src)\/.*\.spec\.ts$/;
/** Attempts to replace `dist`, since a concurrent build can interfere between the two renames. */
const ATTEMPTS = 20;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => process.exit(1));
}
process.once('exit', () =>
  [NEXT, BEFORE].forEach((folder) => rmSync(folder, { recursive: true, force: true })),
);

if (!isUpToDate()) {
  if (parseArgs({ options: { verbose: { type: 'boolean' } } }).values.verbose) {
    console.log('Building …');
  }
  process.exitCode = await build();
}

function isUpToDate() {
  try {
    const { inputs, outputs } = JSON.parse(readFileSync(join(DIST, STAMP), 'utf8'));
    return inputs === fingerprint(INPUTS) && outputs === fingerprint([DIST]);
  } catch {
    // Not built yet, built by other means, or being replaced by a concurrent build.
    return false;
  }
}

/** Compiles again if a source changes during the compilation, so that the stamp is correct. */
async function build() {
  for (;;) {
    const inputs = fingerprint(INPUTS);
    const status = await compile();
    if (status !== 0) {
      return status;
    }
    if (inputs === fingerprint(INPUTS)) {
      writeFileSync(join(NEXT, STAMP), JSON.stringify({ inputs, outputs: fingerprint([NEXT]) }));
      replace();
      return 0;
    }
    rmSync(NEXT, { recursive: true, force: true });
  }
}

/**
 * Compiles without type checks, which would more than double the duration of a build; `npm run typecheck` checks types.
 *
 * @returns {Promise<number>} exit status of the compiler and the console build, which run concurrently
 */
async function compile() {
  const statuses = await Promise.all([
    compileService(),
    ...(existsSync(CONSOLE_CONFIG)
      ? [run('vite', ['build', CONSOLE, '--outDir', resolve(NEXT, 'console'), '--logLevel', 'warn'])]
      : []),
  ]);
  return statuses.find((status) => status !== 0) ?? 0;
}

/** @returns {Promise<number>} exit status */
async function compileService() {
  const status = await run('tsc', ['-p', 'tools/tsconfig.build.json', '--outDir', NEXT, '--noCheck']);
  return status === 0 && existsSync(BUNDLER) ? run(process.execPath, [BUNDLER, NEXT]) : status;
}

/**
 * @param {string} command
 * @param {string[]} args
 * @returns {Promise<number>} exit status
 */
function run(command, args) {
  const child = spawn(command, args, { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

function replace() {
  for (let attempt = 1; ; attempt += 1) {
    rename(DIST, BEFORE, 'ENOENT');
    if (rename(NEXT, DIST, attempt < ATTEMPTS ? 'ENOTEMPTY' : '')) {
      return;
    }
    rmSync(BEFORE, { recursive: true, force: true });
  }
}

/**
 * @param {string} from
 * @param {string} to
 * @param {string} expected error code that is not treated as a failure
 * @returns {boolean} false if the rename failed with the expected code
 */
function rename(from, to, expected) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === expected) {
      return false;
    }
    throw error;
  }
}

/**
 * Returns a hash of file names and contents. Times and sizes are not reliable after a checkout or a copy.
 * @param {string[]} roots files and folders, including their content
 */
function fingerprint(roots) {
  const hash = createHash('sha256');
  for (const root of roots) {
    for (const path of filesOf(root)) {
      const content = readFileSync(join(root, path));
      hash.update(`${path}\0${content.length}\0`).update(content);
    }
    hash.update('\0');
  }
  return hash.digest('hex');
}

/**
 * @param {string} root
 * @returns {string[]} paths below a folder; one empty path for a file; none if `root` does not exist
 */
function filesOf(root) {
  try {
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(root.length + 1)
          .replaceAll(sep, '/'),
      )
      .filter((path) => path !== STAMP && !NOT_COMPILED.test(`${root}/${path}`))
      .toSorted();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') {
      return [''];
    }
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return [];
    }
    throw error;
  }
}
