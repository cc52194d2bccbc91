import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { overrideLimits } from '../../support/limits/limits.js';
import { readPackageFolder } from '../../../src/delivery/packages/reading/package-folder.js';
import { PackageReader } from '../../../src/delivery/packages/reading/package-reader.js';
import { application, system, workflow } from './package-fixture.js';

const LIMITS = {
  'packageLimits.bytes': '100000',
  'packageLimits.systems': '3',
  'packageLimits.workflows': '3',
  'packageLimits.processes': '3',
  'packageLimits.problems': '50',
};

describe('readPackageFolder', () => {
  let parent: string;
  let folder: string;

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'svc-package-'));
    folder = join(parent, 'package');
    await put('application.json', JSON.stringify(application()));
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  async function put(path: string, text: string | Buffer): Promise<void> {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }

  async function problemsOf(limits: Record<string, string> = {}): Promise<string[]> {
    onTestFinished(overrideLimits({ ...LIMITS, ...limits }));
    const { document, problems } = await readPackageFolder(folder);
    expect(document === null).toBe(problems.some(({ severity }) => severity === 'error'));
    return problems.map(({ severity, file, code }) => `${severity} ${file}: ${code}`);
  }

  it('reads a folder into the equivalent document', async () => {
    await put('systems/tools.json', JSON.stringify(system()));
    await put('workflows/b.json', `\uFEFF${JSON.stringify(workflow(undefined, { name: 'second' }))}`);
    await put('workflows/a.json', JSON.stringify(workflow()));
    await put('processes/p.bpmn', '<?xml version="1.0"?>\r\n<ä/>\n');
    const { document, problems } = await readPackageFolder(folder);
    expect(problems).toEqual([]);
    expect(document).toEqual({
      application: application(),
      systems: [{ ...system(), file: 'systems/tools.json' }],
      workflows: [
        { ...workflow(), file: 'workflows/a.json' },
        { ...workflow(undefined, { name: 'second' }), file: 'workflows/b.json' },
      ],
      processes: [{ file: 'processes/p.bpmn', bpmn: '<?xml version="1.0"?>\r\n<ä/>\n' }],
    });
    expect(new PackageReader(document).read().problems).toEqual([]);
  });

  it('ignores hidden files, README and LICENSE', async () => {
    await put('.git/config', 'x');
    await put('systems/.swp', 'x');
    await put('README.md', '# Loans');
    await put('LICENSE', 'x');
    expect(await problemsOf()).toEqual([]);
  });

  it('reports unknown files and folders', async () => {
    await put('workflow/a.json', '{}');
    await put('processes/p.xml', '<a/>');
    await put('systems/deep/a.json', '{}');
    expect(await problemsOf()).toEqual([
      'warning workflow: FILE_UNKNOWN',
      'error systems/deep: FILE_NOT_REGULAR',
      'error processes/p.xml: FILE_UNKNOWN',
    ]);
  });

  it.each([
    ['process/a.bpmn', 'process', ' Did you mean "processes"?'],
    ['Systems/a.json', 'Systems', ' Did you mean "systems"?'],
    ['a.bpmn', 'a.bpmn', ' Files that end with ".bpmn" belong in processes/.'],
    ['price.json', 'price.json', ' Files that end with ".json" belong in systems/ or workflows/.'],
    ['aplication.json', 'aplication.json', ' Did you mean "application.json"?'],
    ['image.png', 'image.png', ''],
    ['other/a.txt', 'other', ''],
  ])('warns about %s at the top level, and reports where it belongs', async (path, file, place) => {
    await put(path, '{}');
    const { document, problems } = await readPackageFolder(folder);
    expect(document).not.toBeNull();
    const message = `Not part of a package, so it is ignored.${place}`;
    expect(problems).toEqual([{ severity: 'warning', code: 'FILE_UNKNOWN', file, element: null, message }]);
  });

  it('reports the right folder for a file in the wrong one', async () => {
    await put('workflows/a.bpmn', '<a/>');
    await put('processes/a.yaml', 'a: 1');
    const { problems } = await readPackageFolder(folder);
    expect(problems.map(({ message }) => message)).toEqual([
      'Files of workflows end with ".json". Files that end with ".bpmn" belong in processes/.',
      'Files of processes end with ".bpmn".',
    ]);
  });

  it('ignores the tests, tooling and documentation of an application', async () => {
    for (const path of [
      'tests/a.test.ts',
      'test/a.test.ts',
      'node_modules/a/index.js',
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'vitest.config.ts',
      'README',
      'readme.adoc',
      'LICENSE.txt',
      'workflows/README.md',
    ]) {
      await put(path, 'x');
    }
    expect(await problemsOf()).toEqual([]);
  });

  it('reads a workflow whose file is named readme.json', async () => {
    await put('workflows/readme.json', JSON.stringify(workflow(undefined, { name: 'Readme' })));
    await mkdir(join(folder, 'processes', 'readme'), { recursive: true });
    expect(await problemsOf()).toEqual(['error processes/readme: FILE_NOT_REGULAR']);
    await rm(join(folder, 'processes'), { recursive: true });
    const { document } = await readPackageFolder(folder);
    expect(document).toMatchObject({ workflows: [{ name: 'Readme', file: 'workflows/readme.json' }] });
  });

  it('reports all problems at once', async () => {
    await put('application.json', '{');
    await put('systems/a.json', '[]');
    await put('systems/b.json', 'no');
    await put('systems/c.json', '{"n": 9007199254740993}');
    await put('processes/p.bpmn', Buffer.from([0x3c, 0xff, 0x3e]));
    expect(await problemsOf()).toEqual([
      'error application.json: JSON_INVALID',
      'error systems/a.json: VALUE_INVALID',
      'error systems/b.json: JSON_INVALID',
      'error systems/c.json: VALUE_INVALID',
      'error processes/p.bpmn: ENCODING_INVALID',
    ]);
  });

  it.each([
    ['{\n  "name": "a",\n  name: 1\n}', '(line 3, column 3).'],
    ['{\n  "name": "a"\n', '(line 2, column 14).'],
    ['{', '(line 1, column 2).'],
    ['{\n  "name": nope,\n  "a": 1\n}\n', '(line 2, column 12).'],
    ['[\n  1,\n]\n\n', '(line 3, column 1).'],
    ['{\n  "text": "é\n",\n  "a": 1\n}', '(line 2, column 13).'],
    ['// nothing\n{}', '(line 1, column 1).'],
    [`{ "a": [${'1, '.repeat(1_000)}\nundefined] }`, '(line 2, column 1).'],
  ])('reports where %j is not valid JSON', async (text, place) => {
    await put('application.json', text);
    const { problems } = await readPackageFolder(folder);
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(place)]);
  });

  it('requires a folder with an application.json', async () => {
    await rm(join(folder, 'application.json'));
    expect(await problemsOf()).toEqual(['error application.json: FILE_NOT_READABLE']);
    await rm(folder, { recursive: true });
    expect(await problemsOf()).toEqual(['error : FOLDER_NOT_FOUND']);
    await writeFile(folder, '{}');
    expect(await problemsOf()).toEqual(['error : FOLDER_NOT_FOUND']);
  });

  it('follows no symbolic links in the folder', async () => {
    await writeFile(join(parent, 'secret.json'), JSON.stringify(system({ name: 'outside' })));
    await mkdir(join(parent, 'outside'));
    await mkdir(join(folder, 'systems'));
    await symlink(join(parent, 'secret.json'), join(folder, 'systems', 'a.json'));
    await symlink('../application.json', join(folder, 'systems', 'b.json'));
    await symlink(join(parent, 'outside'), join(folder, 'workflows'));
    await rm(join(folder, 'application.json'));
    await symlink(join(parent, 'secret.json'), join(folder, 'application.json'));
    const { document, problems } = await readPackageFolder(folder);
    expect(document).toBeNull();
    expect(problems.map(({ file, code }) => `${file}: ${code}`)).toEqual([
      'application.json: FILE_NOT_READABLE',
      'systems/a.json: FILE_NOT_REGULAR',
      'systems/b.json: FILE_NOT_REGULAR',
      'workflows: FILE_NOT_REGULAR',
    ]);
    expect(JSON.stringify(problems)).not.toContain('outside');
  });

  it('accepts a symbolic link to the folder', async () => {
    await symlink(folder, join(parent, 'link'));
    const { problems } = await readPackageFolder(join(parent, 'link'));
    expect(problems).toEqual([]);
  });

  it('does not block on a named pipe', async () => {
    await rm(join(folder, 'application.json'));
    execFileSync('mkfifo', [join(folder, 'application.json')]);
    expect(await problemsOf()).toEqual(['error application.json: FILE_NOT_REGULAR']);
  });

  it('limits the number of files', async () => {
    for (const name of ['a', 'b', 'c', 'd']) {
      await put(`processes/${name}.bpmn`, '<a/>');
    }
    expect(await problemsOf()).toEqual(['error processes: TOO_MANY']);
  });

  it('limits the total size of all files', async () => {
    await put('processes/a.bpmn', 'x'.repeat(600));
    await put('processes/b.bpmn', 'x'.repeat(600));
    expect(await problemsOf({ 'packageLimits.bytes': '1000' })).toEqual([
      'error processes/b.bpmn: PACKAGE_TOO_LARGE',
    ]);
  });
});
