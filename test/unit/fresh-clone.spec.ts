import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const NOT_BUILT = 'Not built yet: run "npm ci && npm run build" first.\n';
const NOT_INSTALLED = 'Not installed yet: run "npm ci" first.\n';
const BUILD_TIMEOUT_MS = 180_000;
/** What a build needs, and nothing that one leaves behind. */
const SOURCES = ['package.json', 'src', 'migrations', 'tsconfig.json', 'tsconfig.build.json'];

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
    },
    BUILD_TIMEOUT_MS,
  );
});

/** Runs a command of package.json there, as npm does, without npm's own lines. */
function run(cwd: string, name: string): Promise<{ status: unknown; output: string }> {
  return new Promise((done) => {
    const { NODE_OPTIONS: _ours, ...env } = process.env;
    execFile('npm', ['run', '-s', name], { cwd, env }, (error, stdout, stderr) =>
      done({ status: error?.code ?? 0, output: `${stdout}${stderr}` }),
    );
  });
}
