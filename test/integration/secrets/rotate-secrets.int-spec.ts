import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateSecrets } from '../../../src/common/secrets/rotate-secrets.js';
import { SecretCipher } from '../../../src/common/secrets/secret-cipher.js';
import { checkSecretKeys } from '../../../src/common/secrets/secret-keys.js';
import { TestApp } from '../../support/app.js';
import { createPath, createSystemBody, serviceAccount } from '../../support/factories.js';

const OLD = { id: 'test', key: Buffer.alloc(32, 7) };
const NEW = { id: 'next', key: Buffer.alloc(32, 9) };

describe('npm run secrets:rotate', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app.close());

  it('seals every secret anew, after which the old key can be taken out', async () => {
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
    });
    expect(await rotateSecrets(manager, both)).toEqual({
      resealed: 0,
      alreadyCurrent: 3,
    });
    await checkSecretKeys(manager, onlyNew, [NEW], new Date());

    const rows = (await manager.query('SELECT * FROM systems')) as Record<string, string>[];
    const opened = rows.map((row) => {
      const { id = '', client_secret: sealed = '' } = row;
      const binding = ['base_url', 'identity_provider_url', 'client_id', 'authorization_type'].map(
        (name) => row[name] ?? null,
      );
      return onlyNew.open(sealed, { table: 'systems', rowId: id, column: 'client_secret', binding });
    });
    expect(opened).toEqual(Array.from({ length: 3 }, () => 'correct horse battery staple'));
  });
});
