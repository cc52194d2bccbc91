import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateSecrets } from '../../../../src/platform/secrets/sealed-columns.js';
import { SecretCipher } from '../../../../src/platform/secrets/secret-cipher.js';
import { checkSecretKeys } from '../../../../src/platform/secrets/secret-keys.js';
import { SystemEntity } from '../../../../src/systems/storage/system.entity.js';
import { TestApp } from '../../../../test/support/app.js';
import { createPath, createSystemBody, serviceAccount } from '../../../../test/support/factories.js';

const OLD = { id: 'test', key: Buffer.alloc(32, 7) };
const NEW = { id: 'next', key: Buffer.alloc(32, 9) };

describe('npm run secrets:rotate', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app.close());

  it('re-encrypts every secret, so that the old key can be removed', async () => {
    const { manager } = app.dataSource;
    for (let count = 0; count < 3; count += 1) {
      const body = createSystemBody({ payload: { authorization: serviceAccount() } });
      expect((await app.request('PATCH', createPath(), { body })).status).toBe(201);
    }
    const both = new SecretCipher([NEW, OLD]);
    const onlyNew = new SecretCipher([NEW]);
    await checkSecretKeys(manager, both, [NEW, OLD], new Date());

    await expect(checkSecretKeys(manager, onlyNew, [NEW], new Date())).rejects.toThrow(/lacks the key test /);
    expect(await rotateSecrets(manager, both)).toEqual({
      resealed: 3,
      alreadyCurrent: 0,
      unreadable: [],
    });
    expect(await rotateSecrets(manager, both)).toEqual({
      resealed: 0,
      alreadyCurrent: 3,
      unreadable: [],
    });
    await checkSecretKeys(manager, onlyNew, [NEW], new Date());

    const rows = (await manager.query('SELECT * FROM systems')) as Record<string, string>[];
    const opened = rows.map((row) => {
      const { id = '', client_secret: sealed = '' } = row;
      const bound = ['base_url', 'identity_provider_url', 'client_id', 'authorization_type'];
      const binding = [...bound, 'tls_ca', 'credential_options'].map((name) => row[name] ?? null);
      return onlyNew.open(sealed, { table: 'systems', rowId: id, column: 'client_secret', binding });
    });
    expect(opened).toEqual(Array.from({ length: 3 }, () => 'correct horse battery staple'));
  });

  describe('the command', () => {
    const systems = () => app.dataSource.getRepository(SystemEntity);
    const both = [NEW, OLD].map(({ id, key }) => `${id}:${key.toString('base64')}`).join(',');
    const firstSealedBy = async (name: string, seal: (rowId: string) => string): Promise<string> => {
      const body = createSystemBody({ payload: { name, authorization: serviceAccount() } });
      expect((await app.request('PATCH', createPath(), { body })).status).toBe(201);
      const rows = await systems().find({ order: { id: 'ASC' } });
      const id = rows[0]?.id ?? '';
      await systems().update({ id }, { clientSecret: seal(id) });
      return id;
    };

    it('continues after a secret that cannot be decrypted, names its row and exits with status 1', async () => {
      const damaged = await firstSealedBy('damaged', () => 'svc2.test.a.b.c');
      const { status, output } = await rotate(both);
      expect(output).toMatch(
        /Re-encrypted: 1; already encrypted with the current key: 2\.\n.*enter these secrets again/,
      );
      expect(output).toContain(`systems ${damaged}.`);
      expect(status).toBe(1);
    });
  });
});

function rotate(keys: string): Promise<{ status: number; output: string }> {
  const { PATH, DATABASE_URL } = process.env;
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['dist/src/rotate-secrets.cli.js'],
      { env: { PATH, DATABASE_URL, NODE_ENV: 'test', SECRETS_KEYS: keys } },
      (error, stdout, stderr) => resolve({ status: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}
