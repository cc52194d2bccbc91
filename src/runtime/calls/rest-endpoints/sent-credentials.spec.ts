import { describe, expect, it } from 'vitest';
import { sentCredentials } from './rest-request.js';

const of = (headers: Record<string, string>, query: Record<string, string> = {}) =>
  sentCredentials(headers, new URLSearchParams(query));
const basic = (pair: string) => Buffer.from(pair).toString('base64');

describe('sentCredentials', () => {
  it.each([
    'authorization',
    'proxy-authorization',
    'cookie',
    'x-api-key',
    'apikey',
    'key',
    'private-token',
    'x-auth-token',
    'x-amz-security-token',
    'ocp-apim-subscription-key',
    'x-functions-key',
    'x-client-secret',
    'x-password',
    'x-session-id',
    'x-signature',
  ])('finds the value of the header %s', (name) => {
    expect(of({ [name]: 'abc123' })).toEqual(['abc123']);
  });

  it.each([
    'api_key',
    'access_token',
    'token',
    'client.secret',
    'sig',
    'PHPSESSID',
    'X-Amz-Signature',
    'key',
  ])('finds the value of the query parameter %s', (name) => {
    expect(of({}, { [name]: 'abc 123' })).toEqual(['abc 123']);
  });

  it.each([
    'accept',
    'content-type',
    'idempotency-key',
    'sort_key',
    'x-tenant-id',
    'traceparent',
    'pageToken',
    'next_token',
    'token_type',
    'author',
    'keyword',
  ])('ignores the value of %s', (name) => {
    expect(of({ [name]: 'customer-name' }, { [name]: 'customer-name' })).toEqual([]);
  });

  it('ignores the query parameter key if its value comes from data, unless it looks like a credential', () => {
    const filled = new Set(['key', 'api_key']);
    const query = new URLSearchParams({ key: 'PROJ-12345', api_key: 'abc-12345' });
    expect(sentCredentials({ key: 'of-header' }, query, filled)).toEqual(['of-header', 'abc-12345']);
    expect(sentCredentials({}, query)).toEqual(['PROJ-12345', 'abc-12345']);
    const bearer = new URLSearchParams({ key: 'Bearer abc-12345' });
    expect(sentCredentials({}, bearer, filled)).toEqual(['Bearer abc-12345', 'abc-12345']);
  });

  it('finds values that look like a credential under any name', () => {
    const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl';
    expect(of({ 'x-caller': `Bearer ${token}`, 'x-other': token })).toEqual([`Bearer ${token}`, token]);
    expect(of({}, { target: 'https://jane:secret-password@example.com/a' })).toContain('secret-password');
    expect(of({ 'x-a': 'Basically a text', 'x-b': 'https://example.com/@jane', 'x-c': 'a.b.c' })).toEqual([]);
  });

  it('splits cookies and parameters, including quoted ones', () => {
    expect(of({ cookie: 'sid=s3cr3t-one; theme="dark-theme"' })).toEqual([
      'sid=s3cr3t-one; theme="dark-theme"',
      's3cr3t-one',
      'dark-theme',
    ]);
    expect(of({ authorization: 'Token token="s3cr3t-two"' })).toContain('s3cr3t-two');
    expect(of({ authorization: 'Bearer YWJjZA==' })).toEqual(['Bearer YWJjZA==', 'YWJjZA==']);
  });

  it('finds the password of Basic credentials, or the user name without a password', () => {
    const usual = of({ authorization: `Basic ${basic('customer:pass:word')}` });
    expect(usual).toEqual(
      expect.arrayContaining(['customer:pass:word', 'pass:word', basic('customer:pass:word')]),
    );
    expect(usual).not.toContain('customer');
    expect(of({ authorization: `Basic ${basic('sk_live_key:')}` })).toContain('sk_live_key');
  });
});
