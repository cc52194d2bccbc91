import { describe, expect, it } from 'vitest';
import {
  databaseHosts,
  databaseServer,
  databaseServers,
  hostUrls,
  isDatabaseServerUrl,
} from './database-url.js';

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

describe('an address of several hosts', () => {
  const URL = 'mysql://svc:p%2Cw@a,b:3307,c/svc?charset=x';

  it('is taken apart by host', () => {
    expect(databaseHosts(URL)).toEqual([
      { host: 'a', port: 3306 },
      { host: 'b', port: 3307 },
      { host: 'c', port: 3306 },
    ]);
    expect(databaseServers(URL).map(({ endpoint }) => endpoint)).toEqual([
      'mysql://a/svc',
      'mysql://b:3307/svc',
      'mysql://c/svc',
    ]);
    expect(databaseServer(URL)).toEqual({ endpoint: 'mysql://a/svc', username: 'svc', password: 'p,w' });
    expect(hostUrls(URL)).toEqual([
      'mysql://svc:p%2Cw@a/svc?charset=x',
      'mysql://svc:p%2Cw@b:3307/svc?charset=x',
      'mysql://svc:p%2Cw@c/svc?charset=x',
    ]);
  });

  it.each(['mysql://a,/svc', 'mysql://,a/svc', 'mysql://a,b:0/svc', 'mysql://a,b:65536/svc', 'mysql://a,b'])(
    'is refused where a part is missing or wrong: %s',
    (url) => {
      expect(isDatabaseServerUrl(url)).toBe(false);
      expect(databaseHosts(url)).toEqual([]);
    },
  );
});
