import { describe, expect, it } from 'vitest';
import { IssuerEndpoints } from './trusted-issuer.js';

const ISSUER = 'https://sso.example.com/realms/company';

function endpointsOf(document: object, issuer = ISSUER): IssuerEndpoints {
  const endpoints = new IssuerEndpoints(issuer);
  endpoints.setDocument(document);
  return endpoints;
}

describe('IssuerEndpoints', () => {
  it('defaults to the origin of the issuer', () => {
    const endpoints = new IssuerEndpoints(ISSUER);
    expect(endpoints.connectOrigins).toEqual(['https://sso.example.com']);
    expect(endpoints.frameOrigins).toEqual(['https://sso.example.com']);
  });

  it('lists the origins in the discovery document, each once', () => {
    const endpoints = endpointsOf({
      token_endpoint: 'https://oauth2.example.net:8443/token?a=b',
      revocation_endpoint: 'https://oauth2.example.net:8443/revoke',
      authorization_endpoint: 'https://accounts.example.org/authorize',
      userinfo_endpoint: 'https://elsewhere.example.org/',
      jwks_uri: 'https://keys.example.org/',
    });
    expect(endpoints.connectOrigins).toEqual([
      'https://sso.example.com',
      'https://oauth2.example.net:8443',
      'https://keys.example.org',
    ]);
    expect(endpoints.frameOrigins).toEqual(['https://sso.example.com', 'https://accounts.example.org']);
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
  ])('ignores addresses that would mean more in a content security policy: %j', (address) => {
    const endpoints = endpointsOf({ token_endpoint: address, authorization_endpoint: address });
    expect(endpoints.connectOrigins).toEqual(['https://sso.example.com']);
    expect(endpoints.frameOrigins).toEqual(['https://sso.example.com']);
  });

  it('keeps neither credentials nor path of an address', () => {
    expect(
      endpointsOf({ token_endpoint: "https://me:x@A.example.org/;script-src 'self'" }).connectOrigins,
    ).toEqual(['https://sso.example.com', 'https://a.example.org']);
  });

  it('allows http only if the issuer uses http', () => {
    const document = { token_endpoint: 'http://[::1]:4001/token' };
    expect(endpointsOf(document, 'http://127.0.0.1:4000').connectOrigins).toEqual([
      'http://127.0.0.1:4000',
      'http://[::1]:4001',
    ]);
    expect(endpointsOf(document, 'urn:svc:evaluation:x').connectOrigins).toEqual([]);
  });
});
