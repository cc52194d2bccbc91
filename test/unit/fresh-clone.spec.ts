import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const NOT_BUILT = 'Not built yet: run "npm ci && npm run build" first.\n';
const NOT_INSTALLED = 'Not installed yet: run "npm ci" first.\n';
const BUILD_TIMEOUT_MS = 180_000;
/** What a build needs, and nothing that one leaves behind. */
const SOURCES = ['package.json', 'src', 'migrations', 'scripts', 'tsconfig.json', 'tsconfig.build.json'];

const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: Record<string, string> };
const names = Object.keys(scripts);
const runsBuilt = names.filter((name) => scripts[name]?.startsWith('npm run -s need:build && exec node '));
const needsTools = names.filter((name) => /^npm run -s (?:build|need:install) && /.test(scripts[name] ?? ''));

describe('commands in a fresh clone', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-clone-'));
    await Promise.all(SOURCES.map((name) => cp(name, join(folder, name), { recursive: true })));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('know each command that runs built files or a tool of the development', () => {
    const atRisk = names.filter((name) =>
      /\bnode .*dist\/|\btsx (?:scripts|bench)\/(?!source-rules)/.test(scripts[name] ?? ''),
    );
    expect([...runsBuilt, ...needsTools].filter((name) => atRisk.includes(name)).toSorted()).toEqual(
      atRisk.toSorted(),
    );
    expect(runsBuilt).toEqual(
      expect.arrayContaining(['start:prod', 'dev:token', 'deliver', 'migration:run', 'secrets:rotate']),
    );
    expect(needsTools).toEqual(expect.arrayContaining(['bench', 'env:example', 'openapi', 'schemas']));
  });

  it.each(needsTools)('%s says in one line that nothing is installed', async (name) => {
    expect(await run(folder, name)).toEqual({ status: 1, output: NOT_INSTALLED });
  });

  it('say it also while the installation runs, which links the tools last', async () => {
    await mkdir(join(folder, 'node_modules/typescript'), { recursive: true });
    expect(await run(folder, 'dev')).toEqual({ status: 1, output: NOT_INSTALLED });
    await rm(join(folder, 'node_modules'), { recursive: true });
  });

  it.each(runsBuilt)('%s says in one line that nothing is built', async (name) => {
    expect(await run(folder, name)).toEqual({ status: 1, output: NOT_BUILT });
  });

  it(
    'build what they need',
    async () => {
      await symlink(resolve('node_modules'), join(folder, 'node_modules'));
      expect(await run(folder, 'start:prod')).toEqual({ status: 1, output: NOT_BUILT });
      expect(await run(folder, 'env:example')).toEqual({ status: 0, output: '.env.example is written.\n' });
      expect(await readFile(join(folder, '.env.example'), 'utf8')).toContain('DATABASE_URL=');

      const told = run(folder, 'build');
      // What a service of the same checkout may load at any moment.
      const seen = await watched(join(folder, 'dist/src/main.js'), told);
      expect(await told).toEqual({ status: 0, output: '' });
      expect(seen).toBeGreaterThan(10);
      await writeFile(join(folder, 'src/broken.ts'), 'export const broken: string = 1;\n');
      expect((await run(folder, 'build')).status).not.toBe(0);
      expect(await readFile(join(folder, 'dist/src/main.js'), 'utf8')).not.toBe('');
      expect((await readdir(folder)).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
    },
    BUILD_TIMEOUT_MS,
  );
});

/** Reads a file until something has ended; fails where it is away for longer than two renames take. */
async function watched(path: string, work: Promise<unknown>): Promise<number> {
  const state = { isDone: false };
  void work.finally(() => (state.isDone = true));
  let seen = 0;
  while (!state.isDone) {
    await readFile(path).catch(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await readFile(path);
    });
    seen += 1;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return seen;
}

/** Runs a command of package.json there, as npm does, without npm's own lines. */
function run(cwd: string, name: string): Promise<{ status: unknown; output: string }> {
  return new Promise((done) => {
    const { NODE_OPTIONS: _ours, ...env } = process.env;
    execFile('npm', ['run', '-s', name], { cwd, env }, (error, stdout, stderr) =>
      done({ status: error?.code ?? 0, output: `${stdout}${stderr}` }),
    );
  });
}
