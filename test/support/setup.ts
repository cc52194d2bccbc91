import { beforeAll, inject } from 'vitest';
import { clearTables } from './test-database.js';

const url = inject('databaseUrls')[Number(process.env['VITEST_POOL_ID']) - 1];
if (url === undefined) {
  throw new Error('There is no database for this worker.');
}
process.env['DATABASE_URL'] = url;

beforeAll(() => clearTables(url));
