import { beforeAll, inject } from 'vitest';
import { clearTables } from './test-database.js';

const database = inject('databases')[Number(process.env['VITEST_POOL_ID']) - 1];
if (database === undefined) {
  throw new Error('There is no database for this worker.');
}
process.env['DATABASE_URL'] = database.url;
process.env['TEST_DATABASE_SETTINGS'] = JSON.stringify(database.settings);

beforeAll(() => clearTables(database));
