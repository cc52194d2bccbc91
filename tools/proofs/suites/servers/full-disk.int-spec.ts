import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import LibsqlDatabase from 'libsql';
import type { EntityManager } from 'typeorm';
import { TestApp } from '../../../../test/support/app.js';
import { Database } from '../../../../src/store/database.js';
import { DatabaseUnavailableError } from '../../../../src/store/database.errors.js';
import { WriteProofEntity } from '../../../../src/store/write-proof.entity.js';

const databaseUrl = String(process.env['DATABASE_URL']);
const SCHEME = 'sqlite:';

/** Simulates a full disk by limiting the file; `npm run prove -- faults` fills a real one. */
describe.skipIf(!databaseUrl.startsWith(SCHEME))('the embedded file on a full disk', () => {
  let app: TestApp;
  let database: Database;

  beforeEach(async () => {
    app = await TestApp.start({ JOBS_CONCURRENCY: '0' });
    database = app.nest.get(Database);
    await database.write((manager) => manager.query('CREATE TABLE fat (bytes BLOB)'));
    // Earlier tests leave free pages in the file.
    await app.dataSource.query('VACUUM');
  });
  afterEach(async () => {
    await setRoom(undefined);
    await database.write((manager) => manager.query('DROP TABLE fat'));
    await database.write((manager) => manager.clear(WriteProofEntity));
    await app.close();
  });

  /**
   * Limits the growth of the file.
   * @param pages number of pages; unlimited when undefined
   */
  const setRoom = async (pages: number | undefined): Promise<void> => {
    const [row] = (await app.dataSource.query('PRAGMA page_count')) as { page_count: number }[];
    const limit = pages === undefined ? 0xfffffffe : (row?.page_count ?? 0) + pages;
    await app.dataSource.query(`PRAGMA max_page_count = ${limit}`);
  };
  const insert = (slot: number) => (manager: EntityManager) =>
    manager.insert(WriteProofEntity, { slot, writtenAt: new Date() });
  const overfill = (manager: EntityManager): Promise<unknown> =>
    manager.query('INSERT INTO fat VALUES (zeroblob(1000000))');
  /** Returns the slots that another connection reads. */
  const slots = (): unknown[] => {
    const other = new LibsqlDatabase(databaseUrl.slice(SCHEME.length));
    const rows = other.prepare('SELECT slot FROM write_proofs WHERE slot < 100 ORDER BY slot').all();
    other.close();
    return (rows as { slot: unknown }[]).map(({ slot }) => slot);
  };

  it('rejects writes without space, and accepts later ones', async () => {
    await setRoom(10);
    for (const slot of [1, 2, 3]) {
      const work = async (manager: EntityManager): Promise<void> => {
        await insert(slot)(manager);
        await overfill(manager);
      };
      await expect(database.write(work)).rejects.toBeInstanceOf(DatabaseUnavailableError);
    }
    await setRoom(undefined);
    await database.write(insert(4));
    expect(slots()).toEqual([4]);
    const failing = async (manager: EntityManager): Promise<void> => {
      await insert(5)(manager);
      throw new Error('on purpose');
    };
    await expect(database.write(failing)).rejects.toThrow('on purpose');
    await database.write(insert(6));
    expect(slots()).toEqual([4, 6]);
  });

  it('stores no statement sent together with one that found no space', async () => {
    await setRoom(10);
    const concurrent = (manager: EntityManager): Promise<unknown> =>
      Promise.allSettled([overfill(manager), insert(7)(manager)]);
    await expect(database.write(concurrent)).rejects.toBeInstanceOf(DatabaseUnavailableError);
    expect(slots()).toEqual([]);
  });
});
