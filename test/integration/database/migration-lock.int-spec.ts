import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataSourceOptions } from '../../../src/store/connection/data-source.options.js';
import { migrate, MigrationLockError, withMigrationLock } from '../../../src/store/migrate.js';
import { SCHEMA } from '../../../src/schema.js';
import { dropDatabase, scratchDatabase } from '../../support/databases/start-databases.js';
import { limitedEnv } from '../../support/limits/limits.js';

const testUrl = String(process.env['DATABASE_URL']);
const NAME = `svc_lock_${process.pid}`;
const READER = `reader_${process.pid}`;
const PATIENT_SECONDS = 60;

describe.skipIf(testUrl.startsWith('sqlite:'))('replicas that migrate concurrently', () => {
  const opened: DataSource[] = [];
  let url: string;

  beforeAll(async () => {
    url = await scratchDatabase(testUrl, NAME);
  });
  afterAll(async () => {
    await opened[0]?.query(`DROP USER IF EXISTS '${READER}'@'%'`);
    await Promise.all(opened.map((dataSource) => dataSource.destroy()));
    await dropDatabase(testUrl, NAME);
  });

  const replica = async (address = url): Promise<DataSource> => {
    const env = limitedEnv('maintenance', {
      NODE_ENV: 'test',
      DATABASE_URL: address,
      'databaseLimits.lockWaitSeconds': '1',
    });
    const dataSource = await new DataSource(dataSourceOptions(env, SCHEMA)).initialize();
    opened.push(dataSource);
    return dataSource;
  };

  /** FROM clause that selects the transaction holding the lock and its connection. */
  const HOLDER = `information_schema.innodb_trx
    JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE db = '${NAME}'`;
  const killHolder = async (by: DataSource): Promise<void> => {
    const rows = (await by.query(`SELECT trx_mysql_thread_id AS id FROM ${HOLDER}`)) as { id: number }[];
    for (const { id } of rows) {
      await by.query(`KILL ${id}`);
    }
  };
  const idleSeconds = async (by: DataSource): Promise<number> => {
    const rows = (await by.query(`SELECT MAX(time) AS idle FROM ${HOLDER}`)) as { idle: number | null }[];
    return Number(rows[0]?.idle);
  };

  it('take turns on an empty database: one creates every table, the others find nothing to do', async () => {
    const replicas = await Promise.all([replica(), replica(), replica()]);
    const done = await Promise.all(replicas.map((each) => migrate(each, PATIENT_SECONDS)));
    expect(done.map(({ length }) => length).toSorted((one, other) => one - other)).toEqual([
      0,
      0,
      SCHEMA.migrations.length,
    ]);
  });

  it('wait for a migration that takes longer than a statement may wait for a row lock', async () => {
    const [first, second] = await Promise.all([replica(), replica()]);
    let isDone = false;
    const working = withMigrationLock(first, PATIENT_SECONDS, async () => {
      await first.query('SELECT SLEEP(3)');
      isDone = true;
    });
    await first.query('SELECT SLEEP(0.2)');
    await withMigrationLock(second, PATIENT_SECONDS, async () => expect(isDone).toBe(true));
    await working;
  });

  it('give up after their timeout, and the lock is released when the work fails or its replica is lost', async () => {
    const [first, second, third] = await Promise.all([replica(), replica(), replica()]);
    await withMigrationLock(first, PATIENT_SECONDS, async () => {
      await expect(migrate(second, 1)).rejects.toThrow(MigrationLockError);
    });
    const failing = withMigrationLock(first, PATIENT_SECONDS, () => Promise.reject(new Error('cut off')));
    await expect(failing).rejects.toThrow('cut off');
    const lost = withMigrationLock(second, PATIENT_SECONDS, async () => {
      await killHolder(first);
      expect(await migrate(third, PATIENT_SECONDS)).toEqual([]);
    });
    await lost;
  });

  it('keep the connection of the lock alive, and fail if it is lost before the work is done', async () => {
    const [first, second] = await Promise.all([replica(), replica()]);
    const work = async (): Promise<void> => {
      const idle = await idleSeconds(first);
      await first.query('SELECT SLEEP(3)');
      expect(await idleSeconds(first)).toBeLessThan(idle + 2);
      await killHolder(first);
      // This work never completes.
      await new Promise(() => undefined);
    };
    await expect(withMigrationLock(second, PATIENT_SECONDS, work, 100)).rejects.toThrow(MigrationLockError);
  });

  it('need no right to change tables if there is nothing to migrate', async () => {
    const [admin] = opened;
    await admin?.query(`CREATE USER '${READER}'@'%' IDENTIFIED BY 'reader'`);
    await admin?.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${NAME}.* TO '${READER}'@'%'`);
    const address = new URL(url);
    address.username = READER;
    address.password = 'reader';
    expect(await migrate(await replica(address.href), PATIENT_SECONDS)).toEqual([]);
  });
});
