import { describe, expect, it } from 'vitest';
import { connectionKey, apiKeyText } from './connection.js';
import { AuthorizationType } from './system.types.js';

const connection = {
  baseUrl: 'https://mcp.example.com/mcp?key=1',
  authorizationType: AuthorizationType.ServiceAccount,
  clientId: 'client',
  identityProviderUrl: 'https://sso.example.com/token',
  credentialOptions: null,
};

describe('connectionKey', () => {
  it.each([
    ['the case of scheme and host', { baseUrl: 'HTTPS://MCP.Example.COM/mcp?key=1' }],
    ['the default port', { baseUrl: 'https://mcp.example.com:443/mcp?key=1' }],
    ['dot segments', { baseUrl: 'https://mcp.example.com/a/../mcp?key=1' }],
    ['the case of the token endpoint', { identityProviderUrl: 'https://SSO.example.com:443/token' }],
  ])('ignores %s', (_what, change) => {
    expect(connectionKey({ ...connection, ...change })).toBe(connectionKey(connection));
  });

  it('is the same with and without the slash of an empty path', () => {
    const [bare, slashed] = ['https://mcp.example.com', 'https://mcp.example.com/'].map((baseUrl) =>
      connectionKey({ ...connection, baseUrl }),
    );
    expect(bare).toBe(slashed);
  });

  it.each([
    ['scheme', { baseUrl: 'http://mcp.example.com/mcp?key=1' }],
    ['host', { baseUrl: 'https://mcp.example.org/mcp?key=1' }],
    ['port', { baseUrl: 'https://mcp.example.com:8443/mcp?key=1' }],
    ['case of the path', { baseUrl: 'https://mcp.example.com/MCP?key=1' }],
    ['slash at the end of the path', { baseUrl: 'https://mcp.example.com/mcp/?key=1' }],
    ['query', { baseUrl: 'https://mcp.example.com/mcp?key=2' }],
    ['type', { authorizationType: AuthorizationType.NoAuth }],
    ['client id', { clientId: 'Client' }],
    ['token endpoint', { identityProviderUrl: 'https://sso.example.com/token2' }],
    ['lack of credentials', { clientId: null, identityProviderUrl: null }],
  ])('differs with the %s', (_what, change) => {
    expect(connectionKey({ ...connection, ...change })).not.toBe(connectionKey(connection));
  });

  it('depends on header and scheme of an API key, ignoring case', () => {
    const key = (headerName: string, scheme: string | null) =>
      connectionKey({
        baseUrl: connection.baseUrl,
        authorizationType: AuthorizationType.ApiKey,
        clientId: null,
        identityProviderUrl: null,
        credentialOptions: apiKeyText({ headerName, scheme }),
      });
    expect(key('X-Key', 'Token')).toBe(key('x-key', 'TOKEN'));
    expect(new Set([key('X-Key', null), key('X-Key', 'Token'), key('X-Api-Key', null)]).size).toBe(3);
  });

  it('differs when text moves from one part to the next', () => {
    const one = { ...connection, clientId: 'a","b' };
    expect(connectionKey(one)).not.toBe(connectionKey({ ...connection, clientId: 'a' }));
    expect(connectionKey(one)).toMatch(/^[0-9a-f]{64}$/);
  });
});
