import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useConsole } from './support/console-world.js';

const KEY = { type: 'API_KEY' };

describe('Deliver a package', () => {
  const world = useConsole();
  let root = '';
  /** Creates an application folder with these systems. @returns its path */
  const folderOf = async (
    name: string,
    systems: readonly string[],
    further: readonly string[] = [],
    application: object = {},
  ): Promise<string> => {
    const bank = (resourceName: string): unknown => ({
      resourceName,
      name: resourceName,
      type: 'REST',
      baseUrl: `https://${resourceName}.example.com`,
      authorization: KEY,
    });
    const files = [
      ['application.json', JSON.stringify({ formatVersion: 1, appId: 'bank', name: 'Bank', ...application })],
      ...systems.map((system) => [`systems/${system}.json`, JSON.stringify(bank(system))]),
      ...further.map((path) => [path, '']),
    ] as const;
    for (const [path = '', text = ''] of files) {
      await mkdir(dirname(join(root, name, path)), { recursive: true });
      await writeFile(join(root, name, path), text);
    }
    return join(root, name);
  };
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'deliver-'));
  });
  afterAll(() => rm(root, { recursive: true }));

  it('shows warnings of the response, or opens the version if there are none', async () => {
    const tab = await world().as('author', '/deliver?version=v1');
    const { page } = tab;
    const store = async (folder: string): Promise<void> => {
      await tab.open('/deliver?version=v1');
      await page.getByLabel('Folder of the application').setInputFiles(folder);
      await page.getByText(/^Found:/).waitFor();
    };
    const press = (): Promise<void> => page.getByRole('button', { name: 'Store the package' }).click();

    await store(await folderOf('first', ['core', 'old'], ['README.md', 'tests/a.test.ts', 'drawing.svg']));
    await page.getByText('Not part of a package, ignored: 1').waitFor();
    const address = page.getByLabel('Address of the system core');
    await address.fill('');
    await press();
    expect(await address.evaluate((field) => field.matches(':invalid'))).toBe(true);
    await address.fill('https://other.example.com');
    await press();
    await page.getByText('SECRET_MISSING').first().waitFor();
    await tab.check('deliver-remarks');

    await store(await folderOf('second', ['core']));
    await press();
    await page.getByText('Systems removed from the version: 1').waitFor();
    await page.getByRole('link', { name: 'Open the version' }).click();
    await page.getByRole('heading', { name: 'Version v1', level: 1 }).waitFor();

    await store(await folderOf('third', []));
    await press();
    await page.getByText('Systems removed from the version: 1').waitFor();
    await store(await folderOf('third', []));
    await press();
    await page.getByRole('heading', { name: 'Version v1', level: 1 }).waitFor();
  });

  it('preselects the library build of the folder if it exists, otherwise the active build', async () => {
    const svc = await world().client();
    const library = (usableBy: string[]) => ({
      application: { formatVersion: 1, appId: 'library', name: 'Library', usableBy },
    });
    const build = async (versionId: string): Promise<string> => {
      const path = { appId: 'library', versionId };
      await svc.storePackage({ path, body: library(['bank']) as never });
      await svc.commitVersion({ path });
      return (await svc.createBuild({ path })).data.buildId;
    };
    const older = await build('v1');
    const active = await build('v2');
    await svc.activateBuild({ path: { appId: 'library' }, body: { buildId: active } });
    const tab = await world().as('author', '/deliver?version=v5');
    const choice = tab.page.getByLabel('Build of the library library');
    const choose = async (name: string, buildId: string): Promise<void> => {
      const libraries = [{ appId: 'library', buildId }];
      const folder = await folderOf(name, [], [], { libraries });
      await tab.page.getByLabel('Folder of the application').setInputFiles(folder);
      await choice.waitFor();
      await tab.settled();
    };
    await choose('named', older);
    await choice.getByText(`as in the folder: ${older}`).waitFor({ state: 'attached' });
    expect(await choice.inputValue()).toBe('');
    await choose('placeholder', 'named-at-delivery');
    await tab.page
      .getByText('The folder names build named-at-delivery, which does not exist here.', { exact: false })
      .waitFor();
    await expect.poll(() => choice.inputValue()).toBe(active);
    await tab.check('deliver-library');
    await tab.page.getByRole('button', { name: 'Store the package' }).click();
    await tab.page.getByRole('heading', { name: 'Version v5', level: 1 }).waitFor();
  });

  it('uses the application id of each folder until the user types another one', async () => {
    const { page } = await world().as('author', '/deliver');
    const [folder, application] = [
      page.getByLabel('Folder of the application'),
      page.getByLabel('Application (required)'),
    ];
    const address = page.getByLabel('Address of the system core');
    const choose = async (appId: string): Promise<void> => {
      await folder.setInputFiles(await folderOf(`of-${appId}`, ['core'], [], { appId }));
      await page.getByText(/^Found:/).waitFor();
    };
    await choose('one');
    await address.fill('https://of-one.example.com');
    await choose('two');
    await expect.poll(() => application.inputValue()).toBe('two');
    expect(await address.inputValue()).toBe('https://core.example.com');
    await application.fill('mine');
    await choose('three');
    expect(await application.inputValue()).toBe('mine');
  });

  it('reports all misplaced files of the folder', async () => {
    const tab = await world().as('author', '/deliver');
    const { page } = tab;
    const folder = await folderOf('wrong', [], ['processes/a.xml', 'workflows/old/b.json']);
    await page.getByLabel('Folder of the application').setInputFiles(folder);
    await page.getByText('FILE_UNKNOWN').waitFor();
    await page.getByText('FILE_NOT_REGULAR').waitFor();
  });
});
