// @ts-check
import { parseArgs } from 'node:util';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

/**
 * Compiles the service into a new folder and puts that folder in the place of `dist`. So what runs from `dist`, or starts meanwhile,
 * finds whole files; after a compilation that failed it finds the files of before. Does nothing where `dist` holds what a
 * compilation would make. JavaScript, since a check at every `npm run` must not wait for a compiler.
 *
 *     node tools/scripts/build.mjs           silent
 *     node tools/scripts/build.mjs --tell    prints a line when it compiles
 */
const DIST = 'dist';
/** On the same level, since source maps name the sources by relative paths. */
const NEXT = `${DIST}.next-${process.pid}`;
const BEFORE = `${DIST}.before-${process.pid}`;
/** In `dist`: fingerprints of what went in and of what came out. */
const STAMP = '.build.json';
/** The console in the browser, and what its builder goes by. */
const CONSOLE = 'packages/console';
const CONSOLE_CONFIG = join(CONSOLE, 'vite.config.ts');
/** What a compilation reads: our files, and which packages are installed. */
const INPUTS = [
  'src',
  'migrations',
  'packages/client/src',
  'packages/engine/src',
  CONSOLE,
  'tools/scripts/build.mjs',
  'tsconfig.json',
  'tools/tsconfig.build.json',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
];
/** As tools/tsconfig.build.json excludes them. */
const NOT_COMPILED = /^(src|packages\/\w+\/src)\/.*\.spec\.ts$/;
/** Builds at the same time can come between the two steps of one. */
const ATTEMPTS = 20;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => process.exit(1));
}
process.once('exit', () =>
  [NEXT, BEFORE].forEach((folder) => rmSync(folder, { recursive: true, force: true })),
);

if (!isUpToDate()) {
  if (parseArgs({ options: { tell: { type: 'boolean' } } }).values.tell) {
    console.log('Building …');
  }
  process.exitCode = await build();
}

function isUpToDate() {
  try {
    const { inputs, outputs } = JSON.parse(readFileSync(join(DIST, STAMP), 'utf8'));
    return inputs === fingerprint(INPUTS) && outputs === fingerprint([DIST]);
  } catch {
    // Not built yet, built otherwise, or replaced by another build at this moment.
    return false;
  }
}

/** Compiles anew where a source changes meanwhile: the stamp must tell the truth. */
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
 * Without checking types, which `npm run typecheck` does: it takes more than half of the time of a build.
 *
 * @returns {Promise<number>} exit status of the compiler and of the builder of the console, which run side by side
 */
async function compile() {
  const statuses = await Promise.all([
    run('tsc', ['-p', 'tools/tsconfig.build.json', '--outDir', NEXT, '--noCheck']),
    ...(existsSync(CONSOLE_CONFIG)
      ? [run('vite', ['build', CONSOLE, '--outDir', resolve(NEXT, 'console'), '--logLevel', 'warn'])]
      : []),
  ]);
  return statuses.find((status) => status !== 0) ?? 0;
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
 * @param {string} expected code of the error with which it may fail
 * @returns {boolean} false when it failed so
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
 * Hash of the names and contents of files. Contents, since times and sizes lie after a checkout or a copy.
 * @param {string[]} roots files, and folders with all that is in them
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
 * @returns {string[]} paths below a folder, an empty one for a file, none for what is not there
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
