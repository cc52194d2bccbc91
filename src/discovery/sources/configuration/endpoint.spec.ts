import { describe, expect, it } from 'vitest';
import { EndpointError, parseEndpoint } from './endpoint.js';

describe('parseEndpoint', () => {
  it('extracts and decodes name and password', () => {
    expect(parseEndpoint('postgresql', 'postgres://svc:p%40s%2Fs@DB.example.com:5432/core/')).toEqual({
      endpoint: 'postgres://db.example.com:5432/core',
      credentials: { username: 'svc', password: 'p@s/s' },
      query: {},
    });
    expect(parseEndpoint('redis', 'rediss://:hush@cache').credentials).toEqual({ password: 'hush' });
    expect(parseEndpoint('redis', 'redis://svc@cache').credentials).toEqual({ username: 'svc' });
    expect(parseEndpoint('http', 'https://docs/api').credentials).toBeNull();
  });

  it('parses lists of hosts, IPv6 addresses and queries', () => {
    expect(parseEndpoint('kafka', 'kafka://u:p@one:9092,[::1]:9093').endpoint).toBe(
      'kafka://one:9092,[::1]:9093',
    );
    expect(parseEndpoint('mongodb', 'mongodb+srv://u:p@cluster/?tls=true')).toMatchObject({
      endpoint: 'mongodb+srv://cluster',
      query: { tls: 'true' },
    });
  });

  it('keeps the exact address of an issuer', () => {
    expect(parseEndpoint('oidc', 'https://SSO.example.com/realms/').endpoint).toBe(
      'https://SSO.example.com/realms/',
    );
  });

  it.each([
    ['postgresql', 'postgres://u:CANARY/x@host/db'],
    ['postgresql', 'postgres://u:CANARY?x@host/db'],
    ['postgresql', 'postgres://u:CANARY#x@host/db'],
    ['postgresql', 'postgres://u:12?CANARY@host/db'],
    ['postgresql', 'postgres://u:12/CANARY@host/db'],
    ['postgresql', 'postgres://u:%CANARY@host/db'],
    ['postgresql', 'postgres://u:CANARY@/db'],
    ['postgresql', 'postgres://u:CANARY@host:0/db'],
    ['postgresql', 'postgres://u:CANARY@host:65536/db'],
    ['postgresql', 'postgres://u:CANARY@one,two/db'],
    ['postgresql', 'postgres://u:CANARY@host/d b'],
    ['postgresql', 'https://u:CANARY@host/db'],
    ['http', 'https://u:CANARY@host/#CANARY'],
    ['http', 'https:u:CANARY@host'],
    ['http', '//u:CANARY@host'],
    ['http', 'CANARY'],
    ['http', ''],
    ['kafka', 'kafka://u:CANARY@one:9092,'],
    ['kafka', 'kafka://u:CANARY@one:9092,kafka://u:CANARY@two:9092'],
    ['http', `https://u:CANARY@host/${'x'.repeat(2_048)}`],
  ] as const)('rejects as %s %s without quoting it', (kind, text) => {
    const message = refusal(() => parseEndpoint(kind, text));
    expect(message).toMatch(/^must /);
    expect(message).not.toContain('CANARY');
  });
});

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(EndpointError);
    return JSON.stringify(error, Object.getOwnPropertyNames(error)) && (error as Error).message;
  }
  throw new Error('was accepted');
}
