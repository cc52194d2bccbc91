import { spawn } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';

/**
 * Compiles the service into a new folder and puts that in the place of `dist`: what runs from `dist` meanwhile, or starts, finds
 * whole files, and after a compilation that failed still those of before.
 *
 *     tsx scripts/build.ts
 */
const DIST = 'dist';
/** On the same level, since source maps name the sources by relative paths. */
const NEXT = `${DIST}.next-${process.pid}`;
const BEFORE = `${DIST}.before-${process.pid}`;
/** Builds at the same time can come between the two steps of one. */
const ATTEMPTS = 20;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => process.exit(1));
}
process.once('exit', () =>
  [NEXT, BEFORE].forEach((folder) => rmSync(folder, { recursive: true, force: true })),
);

const status = await compile();
if (status === 0) {
  replace();
}
process.exitCode = status;

function compile(): Promise<number> {
  const child = spawn('tsc', ['-p', 'tsconfig.build.json', '--outDir', NEXT], { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

function replace(): void {
  for (let attempt = 1; ; attempt += 1) {
    rename(DIST, BEFORE, 'ENOENT');
    if (rename(NEXT, DIST, attempt < ATTEMPTS ? 'ENOTEMPTY' : '')) {
      return;
    }
    rmSync(BEFORE, { recursive: true, force: true });
  }
}

/** @returns false when it failed in the way that was to be expected */
function rename(from: string, to: string, expected: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === expected) {
      return false;
    }
    throw error;
  }
}
