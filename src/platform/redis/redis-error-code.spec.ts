import { describe, expect, it } from 'vitest';
import { redisErrorCode } from './redis-connections.js';

describe('redisErrorCode', () => {
  it.each([
    [new Error('WRONGPASS invalid username-password pair or user is disabled.'), 'WRONGPASS'],
    [new Error('Ready check failed: NOAUTH Authentication required.'), 'NOAUTH'],
    [
      new Error('Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN The cluster is down'),
      'CLUSTERDOWN',
    ],
    [
      Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:6379'), { code: 'ECONNREFUSED' }),
      'ECONNREFUSED',
    ],
    [new TypeError('SECRET words'), 'TypeError'],
    [undefined, 'unknown error'],
  ])('reduces %s to %s', (error, code) => {
    expect(redisErrorCode(error)).toBe(code);
  });
});
