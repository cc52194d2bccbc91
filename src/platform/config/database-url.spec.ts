import { describe, expect, it } from 'vitest';
import { databaseServer } from './database-url.js';

describe('databaseServer', () => {
  it.each([
    ['mysql://db/svc', 'mysql://db/svc', 3306, {}],
    ['mysql://svc@db:3307/svc?charset=x', 'mysql://db:3307/svc', 3307, { username: 'svc' }],
    ['mariadb://svc:p%40s@db/svc', 'mariadb://db/svc', 3306, { username: 'svc', password: 'p@s' }],
    ['mariadb://s:p#a?s@s:w@db:1/svc', 'mariadb://db:1/svc', 1, { username: 's', password: 'p#a?s@s:w' }],
  ])('parses %s', (url, endpoint, port, credentials) => {
    expect(databaseServer(url)).toEqual({ endpoint, host: 'db', port, database: 'svc', credentials });
  });

  it.each([
    'sqlite:./svc.sqlite',
    '',
    'mysql://a,b/svc',
    'mysql://a:1,b:2/svc',
    'mysql://a:0/svc',
    'mysql://a:65536/svc',
    'mysql://a',
  ])('rejects another database, a missing or invalid part, and several hosts: %s', (url) => {
    expect(databaseServer(url)).toBeNull();
  });
});
