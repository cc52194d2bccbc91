import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const NOT_BUILT = 'Not built yet: run "npm ci && npm run build" first.\n';
const NOT_INSTALLED = 'Not installed yet: run "npm ci" first.\n';
const BUILD_TIMEOUT_MS = 900_000;
/** Inputs of a build without outputs of a previous one. Of the service only the settings, which compile quickly. */
const SOURCES = [
  'package.json',
  'src/platform/config',
  'tools/scripts',
  'tsconfig.json',
  'tools/tsconfig.build.json',
  'docs/commands.md',
];
const MAIN = 'src/main.ts';

const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: Record<string, string> };
const names = Object.keys(scripts);
const runsBuilt = names.filter((name) => scripts[name]?.startsWith('exec tools/scripts/run built node '));
const needsTools = names.filter((name) =>
  /^exec tools\/scripts\/run (?:installed|build|build-verbose) /.test(scripts[name] ?? ''),
);
describe('commands in a fresh clone', () => {
  let folder: string;
  let before: string[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-clone-'));
    await Promise.all(SOURCES.map((name) => cp(name, join(folder, name), { recursive: true })));
    await writeFile(join(folder, MAIN), "import './platform/config/env.js';\n");
    // It needs all sources.
    await rm(join(folder, 'tools/scripts/bundle.mjs'));
    before = (await readdir(folder)).toSorted();
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('cover every command that runs built files or a development tool', () => {
    expect([...runsBuilt, ...needsTools].toSorted()).toEqual(names.toSorted());
    expect(runsBuilt).toEqual(
      expect.arrayContaining(['start:prod', 'dev:token', 'deliver', 'migration:run', 'secrets:rotate']),
    );
    expect(needsTools).toEqual(expect.arrayContaining(['bench', 'env:example', 'openapi', 'schemas']));
  });

  it('include all commands named in the README', async () => {
    const named = [
      ...(await readFile('README.md', 'utf8')).matchAll(/\bnpm (?:run )?(dev[\w:-]*|test[\w:-]*)/g),
    ];
    expect(named.map(([, name]) => name)).toEqual(expect.arrayContaining(['dev', 'test']));
    expect(named.filter(([, name = '']) => !names.includes(name))).toEqual([]);
  });

  it.each(names)('%s only prints its help with --help', async (name) => {
    const result = await run(folder, name, '--help');
    expect(result).toMatchObject({ status: 0 });
    const lines = result.output.trimEnd().split('\n');
    expect(lines[0]).toBe(`npm run ${name}`);
    expect(lines.length).toBeLessThan(30);
    // Purpose and example.
    expect(lines[2]).toMatch(/^[A-Z]/);
    expect(lines.filter((line) => line.startsWith('    ')).join('\n')).toMatch(
      new RegExp(`npm (?:run )?(?:-s )?${name}(?: |$)`, 'm'),
    );
    expect(await run(folder, name, 'first', '-h')).toEqual(result);
    expect((await readdir(folder)).toSorted()).toEqual(before);
  });

  it.each(['test', 'prove'])('%s rejects an unknown option', async (name) => {
    const { status, output } = await run(resolve('.'), name, '--no-such-option=1');
    expect(status).toBe(2);
    expect(output).toContain("Unknown option '--no-such-option'");
    expect(output).toContain(`"npm run ${name} -- --help" lists the options.`);
  });

  it('pass arguments after -- to the tool', async () => {
    expect(await run(folder, 'test', '--', '--help')).toEqual({ status: 1, output: NOT_INSTALLED });
  });

  it.each(needsTools)('%s reports in one line that nothing is installed', async (name) => {
    expect(await run(folder, name)).toEqual({ status: 1, output: NOT_INSTALLED });
  });

  it('report it also during the installation, which links the tools last', async () => {
    await mkdir(join(folder, 'node_modules/typescript'), { recursive: true });
    expect(await run(folder, 'dev')).toEqual({ status: 1, output: NOT_INSTALLED });
    await rm(join(folder, 'node_modules'), { recursive: true });
  });

  it.each(runsBuilt)('%s reports in one line that nothing is built', async (name) => {
    expect(await run(folder, name)).toEqual({ status: 1, output: NOT_BUILT });
  });

  it(
    'build what they require',
    async () => {
      await symlink(resolve('node_modules'), join(folder, 'node_modules'));
      expect(await run(folder, 'start:prod')).toEqual({ status: 1, output: NOT_BUILT });
      expect(await run(folder, 'env:example')).toEqual({ status: 0, output: 'Wrote .env.example.\n' });
      expect(await readFile(join(folder, '.env.example'), 'utf8')).toContain('DATABASE_URL=');

      await writeFile(join(folder, 'src/new.ts'), 'export const isNew = true;\n');
      const result = run(folder, 'build');
      // A service of the same checkout may load the file at any time.
      const seen = await readDuring(join(folder, 'dist/src/main.js'), result);
      expect(await result).toEqual({ status: 0, output: '' });
      expect(seen).toBeGreaterThan(10);
      await writeFile(join(folder, 'src/broken.ts'), 'export const broken = ;\n');
      expect((await run(folder, 'build')).status).not.toBe(0);
      expect(await readFile(join(folder, 'dist/src/main.js'), 'utf8')).not.toBe('');
      expect((await readdir(folder)).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
    },
    BUILD_TIMEOUT_MS,
  );
});

/** Reads a file repeatedly until some work has ended. Fails if the file is missing for longer than two renames take. */
async function readDuring(path: string, work: Promise<unknown>): Promise<number> {
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

/**
 * Runs a script of package.json in a folder like npm, in a shell. npm itself would take most of the time of these tests.
 */
function run(cwd: string, name: string, ...args: string[]): Promise<{ status: unknown; output: string }> {
  return new Promise((done) => {
    const { NODE_OPTIONS: _ours, ...ours } = process.env;
    const PATH = [join(cwd, 'node_modules/.bin'), ours['PATH']].join(delimiter);
    const env = { ...ours, PATH, npm_lifecycle_event: name };
    execFile('sh', ['-c', `${scripts[name]} "$@"`, 'sh', ...args], { cwd, env }, (error, stdout, stderr) =>
      done({ status: error?.code ?? 0, output: `${stdout}${stderr}` }),
    );
  });
}
