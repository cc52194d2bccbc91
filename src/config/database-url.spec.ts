import { describe, expect, it } from 'vitest';
import { databaseServer } from './database-url.js';

describe('databaseServer', () => {
  it.each([
    ['mysql://db/svc', { endpoint: 'mysql://db/svc' }],
    ['mysql://svc@db:3306/svc?charset=x', { endpoint: 'mysql://db:3306/svc', username: 'svc' }],
    ['mariadb://svc:p%40s@db/svc', { endpoint: 'mariadb://db/svc', username: 'svc', password: 'p@s' }],
    [
      'mariadb://s:p#a?s@s:w@db:1/svc',
      { endpoint: 'mariadb://db:1/svc', username: 's', password: 'p#a?s@s:w' },
    ],
    ['sqlite:./svc.sqlite', null],
    ['', null],
  ])('takes %s apart', (url, parts) => {
    expect(databaseServer(url)).toEqual(parts);
  });
});
