import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  addressesOf,
  FolderError,
  librariesOf,
  readPackageFiles,
  withChoices,
} from '../../../packages/console/src/pages/applications/package-files.js';
import { readPackageFolder } from '../../../src/delivery/packages/reading/package-folder.js';

type Content = string | Uint8Array<ArrayBuffer>;
type Folder = Record<string, Content>;

/** Returns the files that a browser provides when a user selects a folder. */
const filesOf = (folder: Folder): File[] =>
  Object.entries(folder).map(([path, content]) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return Object.defineProperty(new File([content], name), 'webkitRelativePath', {
      value: `chosen/${path}`,
    });
  });

const problemsOf = async (files: readonly File[]): Promise<{ code: string; file: string }[]> => {
  const error: unknown = await readPackageFiles(files).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(FolderError);
  return (error as FolderError).problems.map(({ code, file }) => ({ code, file }));
};

const WHOLE: Folder = {
  'application.json':
    '{"appId":"loans","libraries":[{"appId":"common","buildId":"b1"},{"appId":"other","buildId":"b2"}]}',
  'systems/bank.json': '{"resourceName":"bank","baseUrl":"https://bank.example.com"}',
  'systems/archive.json': '{"resourceName":"archive"}',
  'workflows/rate.json': '\uFEFF{"name":"rate"}',
  'processes/loan.bpmn': '<bpmn/>',
};
/** Files that both readers ignore without a warning. */
const IGNORED: Folder = {
  'README.md': '',
  LICENSE: '',
  'notes.txt': '',
  'package.json': '{}',
  'vitest.config.ts': '',
  'tests/loan.test.ts': '',
  'node_modules/some/index.js': '',
  '.git/config': '',
  'systems/README.md': '',
  'systems/.bank.json.swp': '',
  'processes/loan.bpmn~': '',
  'workflows/#rate.json#': '',
};
const UTF_16 = Uint8Array.of(0xff, 0xfe, 0x3c, 0x00);

/** Reads the folder as `svc deliver` does. */
async function read(folder: Folder): Promise<Awaited<ReturnType<typeof readPackageFolder>>> {
  const root = await mkdtemp(join(tmpdir(), 'package-files-'));
  try {
    for (const [path, content] of Object.entries(folder)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
    }
    return await readPackageFolder(root);
  } finally {
    await rm(root, { recursive: true });
  }
}

describe('a folder that is selected in a browser', () => {
  it('is read into the same document as by the command', async () => {
    const folder = { ...WHOLE, ...IGNORED };
    const { document, leftOut } = await readPackageFiles(filesOf(folder));
    expect(await read(folder)).toEqual({ document, problems: [] });
    expect(document.systems).toHaveLength(2);
    expect(leftOut).toEqual([]);
  });

  it('lists each ignored name at the top level once', async () => {
    const folder = {
      ...WHOLE,
      'drawings/a.svg': '',
      'drawings/b.svg': '',
      'loan.bpmn': '',
      'Readme.json': '',
    };
    const { leftOut } = await readPackageFiles(filesOf(folder));
    expect(leftOut).toEqual(['drawings/', 'loan.bpmn']);
    expect((await read(folder)).problems.map(({ code, file }) => ({ code, file }))).toEqual([
      { code: 'FILE_UNKNOWN', file: 'drawings' },
      { code: 'FILE_UNKNOWN', file: 'loan.bpmn' },
    ]);
  });

  it.each<[string, Folder]>([
    ['an unknown extension', { 'processes/loan.xml': '' }],
    ['an unknown extension of a readme', { 'systems/README.JSON': '{}' }],
    ['a nested folder', { 'processes/old/a.bpmn': '', 'processes/old/b.bpmn': '' }],
    ['a nested folder with only hidden files', { 'workflows/old/.keep': '' }],
    ['a file that is not UTF-8', { 'processes/old.bpmn': UTF_16 }],
    ['JSON that is not UTF-8', { 'systems/old.json': UTF_16 }],
    ['invalid JSON', { 'systems/old.json': '{' }],
    ['JSON that is not an object', { 'workflows/old.json': '[]' }],
    ['several errors', { 'processes/a.txt': '', 'processes/b.bpmn': UTF_16, 'systems/c.json': 'c' }],
  ])('is rejected with the same problems as by the command: %s', async (_, wrong) => {
    const folder = { ...WHOLE, ...wrong };
    const reported = await problemsOf(filesOf(folder));
    const { problems } = await read(folder);
    expect(reported).toEqual(expect.arrayContaining(problems.map(({ code, file }) => ({ code, file }))));
    expect(reported).toHaveLength(problems.length);
  });

  it('is rejected if a file has the name of a required folder', async () => {
    const { 'processes/loan.bpmn': _, ...others } = WHOLE;
    expect(await problemsOf(filesOf({ ...others, processes: '' }))).toEqual([
      { code: 'FILE_NOT_REGULAR', file: 'processes' },
    ]);
  });

  it('is rejected without application.json, even if a nested folder has one', async () => {
    expect(await problemsOf(filesOf({ 'loans/application.json': '{}' }))).toEqual([
      { code: 'FILE_NOT_READABLE', file: 'application.json' },
    ]);
  });

  it('is rejected if a file has changed since it was selected', async () => {
    const [first, ...others] = filesOf(WHOLE);
    const gone = Object.assign(first ?? new File([], ''), {
      arrayBuffer: async () => Promise.reject(new DOMException('gone', 'NotReadableError')),
    });
    expect(await problemsOf([gone, ...others])).toEqual([
      { code: 'FILE_NOT_READABLE', file: 'application.json' },
    ]);
  });

  it('is rejected if its parts exceed 64 MiB', async () => {
    const sized = (size: number): File[] =>
      filesOf(WHOLE).map((file) =>
        file.name === 'loan.bpmn' ? Object.defineProperty(file, 'size', { value: size }) : file,
      );
    const others = filesOf(WHOLE).reduce(
      (sum, { name, size }) => (name === 'loan.bpmn' ? sum : sum + size),
      0,
    );
    const most = 64 * 1_024 * 1_024 - others;
    await expect(readPackageFiles(sized(most))).resolves.toHaveProperty('leftOut', []);
    expect(await problemsOf(sized(most + 1))).toEqual([{ code: 'PACKAGE_TOO_LARGE', file: '' }]);
  });

  it('is rejected if a part has more than 10,000 files', async () => {
    const many = (count: number): File[] =>
      filesOf({
        ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`systems/s${index}.json`, '{}'])),
        'application.json': '{}',
      });
    await expect(readPackageFiles(many(10_000))).resolves.toHaveProperty('document.systems.length', 10_000);
    expect(await problemsOf(many(10_001))).toEqual([{ code: 'TOO_MANY', file: 'systems' }]);
  });
});

describe('user choices for a selected folder', () => {
  it('replace builds and addresses, and keep the rest of the document', async () => {
    const files = await readPackageFiles(filesOf(WHOLE));
    expect(librariesOf(files)).toEqual([
      { appId: 'common', buildId: 'b1' },
      { appId: 'other', buildId: 'b2' },
    ]);
    expect(addressesOf(files)).toEqual([{ name: 'bank', baseUrl: 'https://bank.example.com' }]);
    const changed = withChoices(
      files,
      new Map([['other', 'b3']]),
      new Map([['bank', 'https://test.example.com']]),
    );
    expect(changed.application['libraries']).toEqual([
      { appId: 'common', buildId: 'b1' },
      { appId: 'other', buildId: 'b3' },
    ]);
    expect(addressesOf({ ...files, document: changed })).toEqual([
      { name: 'bank', baseUrl: 'https://test.example.com' },
    ]);
    expect(withChoices(files, new Map(), new Map())).toEqual(files.document);
  });

  it('do not fall back to the value in the folder if they are empty', async () => {
    const files = await readPackageFiles(filesOf(WHOLE));
    const document = withChoices(files, new Map(), new Map([['bank', '']]));
    expect(addressesOf({ ...files, document })).toEqual([{ name: 'bank', baseUrl: '' }]);
  });
});
