import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const BUILDING = 'Building …\n';
/** Fake compiler that only copies the sources, which takes no time. */
const COMPILER = `#!/bin/sh
mkdir -p "$4/src" "$4/migrations"
for file in src/*.ts migrations/*.ts; do cp "$file" "$4/\${file%.ts}.js"; done
`;

describe('npm run build', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-build-'));
    await Promise.all(
      ['src', 'migrations', 'tools/scripts', 'bin'].map((name) =>
        mkdir(join(folder, name), { recursive: true }),
      ),
    );
    await cp(resolve('tools/scripts/build.mjs'), join(folder, 'tools/scripts/build.mjs'));
    await write('src/main.ts', 'first');
    await write('src/second.ts', 'first');
    await write('migrations/1-init.ts', 'first');
    await compiler(COMPILER);
    expect(await build()).toEqual({ status: 0, output: BUILDING });
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  const write = (path: string, text: string): Promise<void> => writeFile(join(folder, path), text);
  const built = (path = 'src/main.js'): Promise<string> => readFile(join(folder, 'dist', path), 'utf8');
  const build = (): Promise<{ status: unknown; output: string }> =>
    new Promise((done) => {
      const env = { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH']}` };
      execFile(
        process.execPath,
        ['tools/scripts/build.mjs', '--verbose'],
        { cwd: folder, env },
        (error, out, err) => done({ status: error?.code ?? 0, output: `${out}${err}` }),
      );
    });

  async function compiler(text: string): Promise<void> {
    await write('bin/tsc', text);
    await chmod(join(folder, 'bin/tsc'), 0o755);
  }

  it('builds and prints nothing if nothing has changed', async () => {
    await compiler('#!/bin/sh\nexit 1\n');
    expect(await build()).toEqual({ status: 0, output: '' });
    await write('src/main.spec.ts', 'tests are not compiled');
    expect(await build()).toEqual({ status: 0, output: '' });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a changed source', () => write('src/main.ts', 'other')],
    ['a changed migration', () => write('migrations/1-init.ts', 'other')],
    ['a new source', () => write('src/more.ts', 'more')],
    ['a deleted source', () => rm(join(folder, 'src/second.ts'))],
    ['a renamed source', () => rename(join(folder, 'src/main.ts'), join(folder, 'src/renamed.ts'))],
    ['changed compiler options', () => write('tsconfig.json', '{}')],
    ['changed packages', () => write('package-lock.json', '{}')],
    ['a changed output', () => write('dist/src/main.js', 'by hand')],
    ['an extra output', () => write('dist/src/left-over.js', 'of another branch')],
    ['a missing output', () => rm(join(folder, 'dist/src/main.js'))],
    ['a missing stamp', () => rm(join(folder, 'dist/.build.json'))],
    ['a broken stamp', () => write('dist/.build.json', '{')],
    ['no build', () => rm(join(folder, 'dist'), { recursive: true })],
  ])('builds after %s, once', async (_what, change) => {
    await change();
    expect(await build()).toEqual({ status: 0, output: BUILDING });
    expect(await build()).toEqual({ status: 0, output: '' });
    const compiled = (await readdir(join(folder, 'dist/src'))).toSorted();
    const sources = (await readdir(join(folder, 'src'))).toSorted();
    expect(compiled).toEqual(sources.map((name) => name.replace('.ts', '.js')));
  });

  it('keeps the previous build when a build fails, and retries', async () => {
    await write('src/main.ts', 'broken');
    await compiler('#!/bin/sh\nmkdir -p "$4"\necho wrong\nexit 2\n');
    expect(await build()).toEqual({ status: 2, output: `${BUILDING}wrong\n` });
    expect(await build()).toEqual({ status: 2, output: `${BUILDING}wrong\n` });
    expect(await built()).toBe('first');
    expect((await readdir(folder)).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
  });

  it('compiles again when a source changes during the compilation', async () => {
    await write('src/main.ts', 'second');
    await compiler(`${COMPILER}test -f late || { touch late; printf third >src/main.ts; }\n`);
    expect(await build()).toEqual({ status: 0, output: BUILDING });
    expect(await built()).toBe('third');
    expect(await build()).toEqual({ status: 0, output: '' });
  });

  it('supports concurrent builds', async () => {
    await write('src/main.ts', 'second');
    const outcomes = await Promise.all(Array.from({ length: 6 }, build));
    expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 0));
    expect(await built()).toBe('second');
    expect(await build()).toEqual({ status: 0, output: '' });
    expect((await readdir(folder)).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
  });
});
