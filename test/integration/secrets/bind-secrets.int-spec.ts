import { execFile } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SecretCipher } from '../../../src/common/secrets/secret-cipher.js';
import { EnvError } from '../../../src/config/env.js';
import { bindStoredSecrets, checkSecretsAreBound } from '../../../src/database/bind-stored-secrets.js';
import { MigrationStepEntity } from '../../../src/database/migration-step.entity.js';
import { SystemEntity } from '../../../src/modules/systems/storage/system.entity.js';
import { SystemConnectionsService } from '../../../src/modules/systems/lookups/system-connections.service.js';
import { TestApp } from '../../support/app.js';
import { createPath, createSystemBody, serviceAccount } from '../../support/factories.js';

const KEY = { id: 'test', key: Buffer.alloc(32, 7) };
const EX_CONFIG = 78;

let app: TestApp;
let ids: string[];
let old: string[];

beforeAll(async () => {
  app = await TestApp.start();
  ids = [];
  for (let count = 0; count < 3; count += 1) {
    const body = createSystemBody({ payload: { authorization: serviceAccount() } });
    ids.push(String((await app.request('PATCH', createPath(), { body })).body['id']));
  }
  // As the release before bindings left them.
  const cipher = new SecretCipher([KEY]);
  old = ids.map((rowId) => cipher.seal('old secret', { table: 'systems', rowId, column: 'client_secret' }));
  for (const [index, id] of ids.entries()) {
    await store(id, old[index]!);
  }
  await app.dataSource.getRepository(MigrationStepEntity).clear();
});
afterAll(() => app.close());

const store = (id: string, clientSecret: string) =>
  app.dataSource.getRepository(SystemEntity).update({ id }, { clientSecret });
const sealed = async () =>
  (await app.dataSource.getRepository(SystemEntity).find()).map(({ clientSecret }) => clientSecret);
const open = async (id: string) => (await app.nest.get(SystemConnectionsService).byId(id))?.credentials;

it('is asked for by a sentence and status 78 where the keys are missing or others', async () => {
  const other = { id: 'other', key: Buffer.alloc(32, 1) };
  for (const keys of [[], [other]]) {
    await expect(bindStoredSecrets(app.dataSource, keys)).rejects.toThrow(EnvError);
    await expect(bindStoredSecrets(app.dataSource, keys)).rejects.toThrow(`system ${ids[0]} cannot`);
  }
  await expect(checkSecretsAreBound(app.dataSource)).rejects.toThrow(/npm run migration:run/);
  const { status, output } = await migrationRun({});
  expect([status, output]).toEqual([EX_CONFIG, expect.stringMatching(/SECRETS_KEYS is required/)]);
  expect(output).not.toMatch(/^ {4}at /m);
  expect(new Set(await sealed())).toEqual(new Set(old));
});

it('binds every secret of the release before, goes on where it was stopped, and does it once', async () => {
  await expect(open(ids[0]!)).rejects.toThrow('A stored secret cannot be read.');
  const broken = { ...KEY, key: Buffer.alloc(32, 2) };
  await expect(bindStoredSecrets(app.dataSource, [broken])).rejects.toThrow(EnvError);
  const { status } = await migrationRun({ SECRETS_KEYS: `test:${KEY.key.toString('base64')}` });
  expect(status).toBe(0);
  expect((await sealed()).every((value) => value?.startsWith('svc2.test.'))).toBe(true);
  for (const id of ids) {
    expect(await open(id)).toMatchObject({ clientSecret: 'old secret' });
  }
  await expect(checkSecretsAreBound(app.dataSource)).resolves.toBeUndefined();

  await store(ids[0]!, old[0]!);
  await bindStoredSecrets(app.dataSource, [KEY]);
  await expect(open(ids[0]!)).rejects.toThrow('A stored secret cannot be read.');
});

it('is done by two replicas that start at once', async () => {
  for (const [index, id] of ids.entries()) {
    await store(id, old[index]!);
  }
  await app.dataSource.getRepository(MigrationStepEntity).clear();
  await Promise.all([1, 2].map(() => bindStoredSecrets(app.dataSource, [KEY])));
  for (const id of ids) {
    expect(await open(id)).toMatchObject({ clientSecret: 'old secret' });
  }
});

function migrationRun(settings: Record<string, string>): Promise<{ status: number; output: string }> {
  const { PATH, DATABASE_URL } = process.env;
  return new Promise((resolve) => {
    const args = ['dist/src/migration.cli.js', 'run'];
    execFile(
      process.execPath,
      args,
      { env: { PATH, DATABASE_URL, NODE_ENV: 'test', ...settings } },
      (error, stdout, stderr) => resolve({ status: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}
