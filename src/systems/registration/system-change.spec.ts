import { describe, expect, it } from 'vitest';
import { ValidationFailedError } from '../../platform/errors/request.errors.js';
import { connectionKey } from '../model/connection.js';
import type { UpdateSystemRequestDto } from './system.request.dto.js';
import type { SystemEntity } from '../storage/system.entity.js';
import { applyChange } from './system-change.js';
import { AuthorizationType } from '../model/system.types.js';
import { SecretRequiredError } from '../model/systems.errors.js';

const { NoAuth, ServiceAccount } = AuthorizationType;
const BASE_URL = 'https://mcp.example.com/mcp';
const TOKEN_URL = 'https://sso.example.com/token';

const system = (rest: Partial<SystemEntity> = {}): SystemEntity =>
  ({
    id: 'system-1',
    name: 'Name',
    description: 'Description',
    baseUrl: BASE_URL,
    authorizationType: ServiceAccount,
    clientId: 'client',
    clientSecret: 'sealed(old)',
    identityProviderUrl: TOKEN_URL,
    caCertificates: null,
    clientCertificate: null,
    clientKey: null,
    credentialOptions: null,
    headers: null,
    headerNames: null,
    timeoutMs: null,
    connectionKey: 'key',
    toolsSynchronisedAt: null,
    toolsDueAt: null,
    ...rest,
  }) as SystemEntity;
const open = (): SystemEntity =>
  system({ authorizationType: NoAuth, clientId: null, clientSecret: null, identityProviderUrl: null });

const after = (change: UpdateSystemRequestDto, before = system()): SystemEntity =>
  applyChange(before, change, {
    seal: (_system, secret) => `sealed(${secret})`,
    rebind: (_from, _to, sealed) => sealed,
  });
const account = (configuration?: Record<string, string>): UpdateSystemRequestDto => ({
  authorization: { type: ServiceAccount, ...(configuration && { configuration }) },
});

describe('applyChange', () => {
  it('keeps all values that the change leaves out', () => {
    const key = connectionKey({
      baseUrl: BASE_URL,
      authorizationType: ServiceAccount,
      clientId: 'client',
      identityProviderUrl: TOKEN_URL,
      credentialOptions: null,
    });
    for (const change of [{}, account(), account({})]) {
      expect(after(change)).toEqual({ ...system(), connectionKey: key });
    }
  });

  it('does not modify its argument', () => {
    const before = system();
    after({ name: 'New', ...account({ clientSecret: 'new' }) }, before);
    expect(before).toEqual(system());
  });

  it('accepts an empty description', () => {
    expect(after({ description: '' }).description).toBe('');
  });

  it('seals only a new secret', () => {
    expect(after(account({ clientSecret: 'new' }))).toMatchObject({
      clientSecret: 'sealed(new)',
      clientId: 'client',
      identityProviderUrl: TOKEN_URL,
    });
    expect(after(account({ clientId: 'other' }))).toMatchObject({
      clientSecret: 'sealed(old)',
      clientId: 'other',
    });
  });

  it('keeps the connection key when a secret is rotated and changes it with the connection', () => {
    const { connectionKey: key } = after({});
    expect(after(account({ clientSecret: 'new' })).connectionKey).toBe(key);
    expect(after(account({ clientId: 'other' })).connectionKey).not.toBe(key);
  });

  it.each<[string, UpdateSystemRequestDto]>([
    ['the host', { baseUrl: 'https://mcp.example.org/mcp' }],
    ['the path', { baseUrl: 'https://mcp.example.com/other' }],
    ['the port', { baseUrl: 'https://mcp.example.com:8443/mcp' }],
    ['the scheme', { baseUrl: 'http://mcp.example.com/mcp' }],
    ['the query', { baseUrl: 'https://mcp.example.com/mcp?tenant=2' }],
    ['the token endpoint', account({ identityProviderUrl: 'https://sso.example.org/token' })],
    ['both', { baseUrl: 'https://a.example', ...account({ identityProviderUrl: 'https://b.example' }) }],
  ])('requires the secret again when %s changes', (_what, change) => {
    expect(() => after(change)).toThrow(SecretRequiredError);
    const { authorization } = change;
    const configuration = { ...authorization?.configuration, clientSecret: 'new' };
    expect(after({ ...change, authorization: { type: ServiceAccount, configuration } }).clientSecret).toBe(
      'sealed(new)',
    );
  });

  it('keeps the secret when a URL is only spelled differently', () => {
    const spelled = { baseUrl: 'HTTPS://MCP.example.com:443/a/../mcp' };
    expect(after(spelled)).toMatchObject({ ...spelled, clientSecret: 'sealed(old)' });
  });

  it('deletes credentials under NO_AUTH, including those in the request', () => {
    const change = {
      authorization: { type: NoAuth, configuration: { clientSecret: 'new', clientId: 'c' } },
      baseUrl: 'https://mcp.example.org',
    };
    expect(after(change)).toMatchObject({
      authorizationType: NoAuth,
      clientId: null,
      clientSecret: null,
      identityProviderUrl: null,
    });
  });

  it('moves a system without credentials to any address', () => {
    expect(after({ baseUrl: 'http://elsewhere.example' }, open())).toMatchObject({
      baseUrl: 'http://elsewhere.example',
      authorizationType: NoAuth,
    });
  });

  it.each([
    [{}, 'clientId clientSecret identityProviderUrl'],
    [{ clientId: 'c', identityProviderUrl: TOKEN_URL }, 'clientSecret'],
    [{ clientSecret: 's' }, 'clientId identityProviderUrl'],
  ])('reports what %j lacks to become a service account', (configuration, missing) => {
    let error: unknown;
    try {
      after(account(configuration), open());
    } catch (reason) {
      error = reason;
    }
    expect(error).toBeInstanceOf(ValidationFailedError);
    expect((error as ValidationFailedError).details).toBe(
      missing
        .split(' ')
        .map((name) => `authorization.configuration.${name}: is required for SERVICE_ACCOUNT`)
        .join('; '),
    );
  });
});
