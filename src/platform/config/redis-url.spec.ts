import { describe, expect, it } from 'vitest';
import { redisTarget } from './redis-url.js';

describe('redisTarget', () => {
  it.each([
    ['redis://localhost', { kind: 'server', usesTls: false, hosts: [['localhost', 6_379]], database: 0 }],
    [
      'rediss://me:p%40ss:w@[::1]:7000/3',
      {
        kind: 'server',
        usesTls: true,
        hosts: [['::1', 7_000]],
        username: 'me',
        password: 'p@ss:w',
        database: 3,
      },
    ],
    [
      'valkeys://:word@h',
      { kind: 'server', usesTls: true, hosts: [['h', 6_379]], password: 'word', database: 0 },
    ],
    [
      'redis+cluster://a:7000,b:7001,c',
      {
        kind: 'cluster',
        usesTls: false,
        hosts: [
          ['a', 7_000],
          ['b', 7_001],
          ['c', 6_379],
        ],
        database: 0,
      },
    ],
    [
      'valkeys+sentinel://u:w@a,b:1/main-1/2',
      {
        kind: 'sentinel',
        usesTls: true,
        hosts: [
          ['a', 26_379],
          ['b', 1],
        ],
        primary: 'main-1',
        username: 'u',
        password: 'w',
        database: 2,
      },
    ],
  ])('parses %s', (url, { hosts, ...expected }) => {
    expect(redisTarget(url)).toEqual({
      ...expected,
      hosts: hosts.map(([host, port]) => ({ host, port })),
    });
  });

  it.each([
    'http://localhost',
    'redis://',
    'redis://a,b',
    'redis://a:0',
    'redis://a:70000',
    'redis://a/one',
    'redis://a/0/1',
    'redis://%zz@a',
    'redis+cluster://a/1',
    'redis+sentinel://a',
    'redis+sentinel://a/ma in',
    'redis://a?x=1',
  ])('rejects %s', (url) => {
    expect(redisTarget(url)).toBeNull();
  });
});
