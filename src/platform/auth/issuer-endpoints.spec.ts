import { describe, expect, it } from 'vitest';
import { IssuerEndpoints } from './trusted-issuer.js';

const ISSUER = 'https://sso.example.com/realms/company';

function endpointsOf(document: object, issuer = ISSUER): IssuerEndpoints {
  const endpoints = new IssuerEndpoints(issuer);
  endpoints.take(document);
  return endpoints;
}

describe('IssuerEndpoints', () => {
  it('are at the origin of the issuer until it says otherwise', () => {
    const endpoints = new IssuerEndpoints(ISSUER);
    expect(endpoints.called).toEqual(['https://sso.example.com']);
    expect(endpoints.shown).toEqual(['https://sso.example.com']);
  });

  it('are where the document of the issuer says, each origin once', () => {
    const endpoints = endpointsOf({
      token_endpoint: 'https://oauth2.example.net:8443/token?a=b',
      revocation_endpoint: 'https://oauth2.example.net:8443/revoke',
      authorization_endpoint: 'https://accounts.example.org/authorize',
      userinfo_endpoint: 'https://elsewhere.example.org/',
      jwks_uri: 'https://keys.example.org/',
    });
    expect(endpoints.called).toEqual([
      'https://sso.example.com',
      'https://oauth2.example.net:8443',
      'https://keys.example.org',
    ]);
    expect(endpoints.shown).toEqual(['https://sso.example.com', 'https://accounts.example.org']);
  });

  it.each([
    'https://*/token',
    'https://*.example.org/token',
    "https://a.example.org;script-src'unsafe-inline'/",
    'https://a.example.org; script-src *',
    'https://a.example.org,https://b.example.org/',
    "'unsafe-inline'",
    'http://a.example.org/token',
    'data:text/html,x',
    'blob:https://a.example.org/1',
    'javascript:alert(1)',
    '*',
    '',
    '//a.example.org',
    7,
    null,
    ['https://a.example.org'],
    { toString: () => 'https://a.example.org' },
  ])('are nothing that could mean more in a policy: %j', (address) => {
    const endpoints = endpointsOf({ token_endpoint: address, authorization_endpoint: address });
    expect(endpoints.called).toEqual(['https://sso.example.com']);
    expect(endpoints.shown).toEqual(['https://sso.example.com']);
  });

  it('take no name and no path of an address', () => {
    expect(endpointsOf({ token_endpoint: "https://me:x@A.example.org/;script-src 'self'" }).called).toEqual([
      'https://sso.example.com',
      'https://a.example.org',
    ]);
  });

  it('are at http only where the issuer is', () => {
    const document = { token_endpoint: 'http://[::1]:4001/token' };
    expect(endpointsOf(document, 'http://127.0.0.1:4000').called).toEqual([
      'http://127.0.0.1:4000',
      'http://[::1]:4001',
    ]);
    expect(endpointsOf(document, 'urn:svc:evaluation:x').called).toEqual([]);
  });
});
