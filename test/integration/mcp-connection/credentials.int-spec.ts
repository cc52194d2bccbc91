import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { jwtVerify } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';

import { connectionService, noAuth, serviceAccount, stopServices } from '../../support/peers/mcp-services.js';
import { CONNECTION_WARNINGS } from '../../../src/systems/mcp-connection/model/connection-test.types.js';
import { keptPeers } from '../../support/peers/kept-peers.js';
import { startLegacySse } from '../../support/peers/legacy-sse.peer.js';
import { startModernPeer } from '../../support/peers/official.peers.js';
import { startTokenPeer, type TokenScript } from '../../support/peers/token.peer.js';
import { startOAuthPeer } from '../../support/oidc-issuer.js';
import { forbidden, unauthorized } from '../../support/peers/pathologies.js';
import { noSocketsLeft, readBody, startHttpPeer } from '../../support/peers/peer.js';
import { sendResult, startScriptedMcp } from '../../support/peers/scripted-mcp.peer.js';

const keep = keptPeers();

const insecure = CONNECTION_WARNINGS.insecureTransport;

async function peers(script: Partial<TokenScript> = {}) {
  const token = await keep(startTokenPeer(script));
  const mcp = await keep(startModernPeer([{ name: 'a' }], (bearer) => token.valid.has(bearer ?? '')));
  return { token, mcp, request: serviceAccount(mcp.url, token.url) };
}

describe('Connection test with a service account', () => {
  const service = connectionService();
  /** For tests that wait for the deadline. */
  const hasty = connectionService({ 'mcpLimits.testTimeoutMs': '4000' });
  afterAll(stopServices);

  it.each(['client_secret_basic', 'client_secret_post'] as const)(
    'gets a token for the MCP server from a real OAuth server by %s',
    async (method) => {
      let resource = '';
      const clientSecret = 'a secret: with %, +, & and 32 more characters';
      const oauth = await keep(startOAuthPeer([{ clientId: 'svc', clientSecret, method }], () => resource));
      const mcp = await keep(startModernPeer([{ name: 'a' }], oauth.isIssued));
      resource = mcp.url;
      const request = serviceAccount(mcp.url, oauth.url, { clientId: 'svc', clientSecret });
      await expect(service.test(request)).resolves.toMatchObject({
        outcome: 'connected',
        tools: [{ name: 'a' }],
      });
      const wrong = serviceAccount(mcp.url, oauth.url, { clientId: 'svc', clientSecret: 'no' });
      await expect(service.test(wrong)).resolves.toMatchObject({
        outcome: 'rejected_credentials',
        cause: 'invalid_client',
      });
    },
  );

  it.each([
    ['RS256', () => generateKeyPairSync('rsa', { modulusLength: 2_048 })],
    ['PS256', () => generateKeyPairSync('rsa', { modulusLength: 2_048 })],
    ['ES256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['ES512', () => generateKeyPairSync('ec', { namedCurve: 'P-521' })],
    ['EdDSA', () => generateKeyPairSync('ed25519')],
  ])('gets a token from a real OAuth server by private_key_jwt with %s', async (algorithm, pair) => {
    let resource = '';
    const [own, other] = [pair(), pair()].map(({ privateKey, publicKey }) => ({
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      jwk: publicKey.export({ format: 'jwk' }),
    }));
    const keys = [{ ...own?.jwk, kid: 'own', use: 'sig', alg: algorithm }];
    const client = { clientId: 'svc', jwks: { keys }, method: 'private_key_jwt' as const, algorithm };
    const oauth = await keep(startOAuthPeer([client], () => resource));
    const mcp = await keep(startModernPeer([{ name: 'a' }], oauth.isIssued));
    resource = mcp.url;
    const request = (privateKey = '', keyId: string | null = 'own') => ({
      baseUrl: mcp.url,
      credentials: {
        type: 'SERVICE_ACCOUNT' as const,
        clientId: 'svc',
        tokenUrl: oauth.url,
        privateKey,
        algorithm,
        keyId,
      },
      knownToolCount: 0,
    });
    await expect(service.test(request(own?.privateKey))).resolves.toMatchObject({ outcome: 'connected' });
    // A second test must sign a new assertion.
    await expect(service.test(request(own?.privateKey, null))).resolves.toMatchObject({
      outcome: 'connected',
    });
    for (const refused of [request(other?.privateKey), request(own?.privateKey, 'unknown'), request('')]) {
      await expect(service.test(refused)).resolves.toMatchObject({
        outcome: 'rejected_credentials',
        cause: 'invalid_client',
      });
    }
  });

  it('signs a new assertion for each token request, valid for one minute and only at the token endpoint', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const forms: URLSearchParams[] = [];
    const tokens = await keep(
      startHttpPeer((received, response) => {
        const answer = (body: string): void => {
          forms.push(new URLSearchParams(body));
          const status = forms.length === 1 ? 400 : 200;
          response
            .writeHead(status, { 'content-type': 'application/json' })
            .end(JSON.stringify(status === 200 ? { access_token: 'a-token' } : { error: 'invalid_target' }));
        };
        void readBody(received).then(answer);
      }, '/token'),
    );
    const mcp = await keep(startModernPeer([{ name: 'a' }], (token) => token === 'a-token'));
    const credentials = {
      type: 'SERVICE_ACCOUNT' as const,
      clientId: 'svc',
      tokenUrl: tokens.url,
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      algorithm: 'ES256',
      keyId: 'one',
    };
    const result = await service.test({ baseUrl: mcp.url, credentials, knownToolCount: 0 });
    expect(result).toMatchObject({ outcome: 'connected' });
    expect(forms.map((form) => form.get('resource'))).toEqual([mcp.url, null]);
    const ids = new Set<unknown>();
    for (const form of forms) {
      expect(form.get('client_assertion_type')).toBe(
        'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      );
      expect([form.get('client_id'), form.get('client_secret')]).toEqual(['svc', null]);
      const { payload, protectedHeader } = await jwtVerify(form.get('client_assertion') ?? '', publicKey);
      expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'one' });
      expect(payload).toMatchObject({ iss: 'svc', sub: 'svc', aud: tokens.url });
      expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
      ids.add(payload.jti);
    }
    expect(ids.size).toBe(2);
  });

  it('sends an API key with every request to the server, over both transports', async () => {
    const seen: unknown[] = [];
    const refuses = (request: IncomingMessage, response: ServerResponse): boolean => {
      seen.push(request.headers['x-key']);
      const isRefused = request.headers['x-key'] !== 'a-key-of-ours';
      if (isRefused) {
        response.writeHead(401).end();
      }
      return isRefused;
    };
    const http = await keep(
      startScriptedMcp({
        before: refuses,
        list: ({ id, response }) => sendResult(response, id, { tools: [] }),
      }),
    );
    const sse = await keep(startLegacySse({ before: refuses }));
    for (const { url } of [http, sse]) {
      const apiKey = (key: string) => ({
        baseUrl: url,
        credentials: { type: 'API_KEY' as const, headerName: 'X-Key', scheme: null, apiKey: key },
        knownToolCount: 0,
      });
      seen.length = 0;
      await expect(service.test(apiKey('a-key-of-ours'))).resolves.toMatchObject({
        outcome: 'connected',
        warnings: expect.arrayContaining([CONNECTION_WARNINGS.insecureTransport]),
      });
      expect(seen.length).toBeGreaterThan(2);
      expect(new Set(seen)).toEqual(new Set(['a-key-of-ours']));
      await expect(service.test(apiKey('another-key'))).resolves.toMatchObject({ cause: 'unauthorized' });
      seen.length = 0;
      await expect(service.test(apiKey(''))).resolves.toMatchObject({ cause: 'unauthorized' });
      expect(seen).toEqual([]);
    }
  });

  it('removes sent secrets from the tools that a server lists, before texts are truncated', async () => {
    const clientSecret = 'CANARY secret of the client';
    const tokens = await keep(startTokenPeer({ clientSecret, tokenPrefix: 'CANARY~token~' }));
    const mcp = await keep(
      startScriptedMcp({
        list: ({ id, request, response }) => {
          const bearer = String(request.headers.authorization);
          const echo = encodeURIComponent(clientSecret);
          sendResult(response, id, {
            tools: [
              {
                name: 'kept',
                title: `${'x'.repeat(240)} ${echo}`,
                description: `For ${Buffer.from(`a:${clientSecret}`).toString('base64')}: ${bearer}`,
                inputSchema: { type: 'object', properties: { [echo]: { default: bearer } } },
              },
              { name: echo.replaceAll('%', '/'), inputSchema: { type: 'object' } },
              { name: clientSecret.replaceAll(' ', '-'), inputSchema: { type: 'object' } },
            ],
          });
        },
      }),
    );
    const request = serviceAccount(mcp.url, tokens.url, { clientId: 'client', clientSecret });
    const result = await service.test(request);
    expect(result).toMatchObject({
      outcome: 'connected',
      tools: [
        {
          name: 'kept',
          title: `${'x'.repeat(240)} [removed]`,
          description: expect.stringMatching(/^For .{1,4}\[removed].{0,4}: Bearer \[removed]$/),
          inputSchema: { properties: { '[removed]': { default: 'Bearer [removed]' } } },
        },
        { name: 'CANARY/20secret/20of/20the/20client' },
      ],
      rejectedTools: [{ name: '[removed]', reason: 'invalid_name' }],
    });
  });

  it('omits `resource` for a real OAuth server that rejects the parameter, and warns', async () => {
    const oauth = await keep(
      startOAuthPeer(
        [{ clientId: 'svc', clientSecret: 's', method: 'client_secret_basic' }],
        () => 'urn:other',
      ),
    );
    const mcp = await keep(startModernPeer([{ name: 'a' }], oauth.isIssued));
    const result = await service.test(
      serviceAccount(mcp.url, oauth.url, { clientId: 'svc', clientSecret: 's' }),
    );
    expect(result).toMatchObject({
      outcome: 'connected',
      warnings: expect.arrayContaining([expect.stringContaining('resource parameter')]),
    });
  });

  it.each([
    ['basic', undefined, ['basic']],
    ['post', undefined, ['basic', 'post']],
    ['any', 'invalid_target', ['basic', 'basic']],
    ['any', 'invalid_resource', ['basic', 'basic']],
    ['any', 'invalid_request', ['basic', 'basic']],
    ['post', 'invalid_target', ['basic', 'post', 'post']],
  ] as const)(
    'adapts to an endpoint that requires %s and rejects the parameter `resource` with %s',
    async (method, error, ways) => {
      const { token, mcp, request } = await peers({ method, refuseResource: error });
      await expect(service.test(request)).resolves.toMatchObject({ outcome: 'connected' });
      expect(token.requests.map(({ authentication }) => authentication)).toEqual(ways);
      expect(token.requests[0]).toMatchObject({ grant_type: 'client_credentials', resource: mcp.url });
      expect(token.requests.at(-1)?.['resource']).toBe(error === undefined ? mcp.url : undefined);
    },
  );

  it('sends a scope and other fields, which never replace its own', async () => {
    const { token, mcp } = await peers({ method: 'basic' });
    const asked = (tokenParameters: Record<string, string>, scope = 'tools.read tools.call') =>
      service.test(serviceAccount(mcp.url, token.url, { scope, tokenParameters }));
    const tokenParameters = {
      audience: 'https://api',
      grant_type: 'password',
      scope: 'all',
      resource: 'urn:x',
    };
    await expect(asked(tokenParameters)).resolves.toMatchObject({ outcome: 'connected' });
    expect(token.requests).toEqual([
      {
        grant_type: 'client_credentials',
        scope: 'tools.read tools.call',
        audience: 'https://api',
        resource: mcp.url,
        authentication: 'basic',
      },
    ]);
    // Tokens are cached per scope and audience.
    await asked({ audience: 'https://other' });
    await asked({ audience: 'https://other' }, 'all');
    await asked(tokenParameters);
    expect(token.requests.map(({ scope, audience }) => [scope, audience])).toEqual([
      ['tools.read tools.call', 'https://api'],
      ['tools.read tools.call', 'https://other'],
      ['all', 'https://other'],
    ]);
  });

  it.each([
    [401, 'invalid_client', 'invalid_client'],
    [401, 'unauthorized_client', 'invalid_client'],
    [400, 'unauthorized_client', 'token_grant'],
    [400, 'unsupported_grant_type', 'token_grant'],
    [400, 'invalid_scope', 'token_scope'],
    [403, 'access_denied', 'token_denied'],
    [400, 'invalid_target', 'token_denied'],
    [403, undefined, 'token_denied'],
    [400, 'invalid_request', 'token_request'],
  ] as const)('reports a refusal with %i %s as %s', async (status, error, cause) => {
    const { request } = await peers({ instead: () => ({ status, body: { error } }) });
    await expect(service.test(request)).resolves.toMatchObject({ outcome: 'rejected_credentials', cause });
  });

  it.each([
    [503, '{"error":"server_error"}', 'token_error'],
    [200, '{"token":"none"}', 'token_invalid'],
    [200, '<a href="?x=1&access_token=not-a-token">sign in</a>', 'token_invalid'],
  ])('reports %i with %s as %s', async (status, body, cause) => {
    const { request } = await peers({ instead: () => ({ status, body }) });
    await expect(service.test(request)).resolves.toMatchObject({ outcome: 'unreachable', cause });
  });

  it('does not try another method if the error is not about the method', async () => {
    const { token, request } = await peers({
      instead: () => ({ status: 403, body: { error: 'access_denied' } }),
    });
    await service.test(request);
    expect(token.requests).toHaveLength(1);
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain; charset=utf-8'])(
    'reads a token from a form (%s)',
    async (type) => {
      const body = 'access_token=of-a-form&token_type=bearer&expires_in=60&scope=a%20b';
      const { token, request } = await peers({
        instead: () => ({ status: 200, body, headers: { 'content-type': type } }),
      });
      token.valid.add('of-a-form');
      await expect(service.test(request)).resolves.toMatchObject({
        outcome: 'connected',
        warnings: [insecure],
      });
    },
  );

  it('waits for a token endpoint that limits requests, as long as Retry-After says', async () => {
    const { token, request } = await peers({
      instead: (_form, count) =>
        count > 2 ? undefined : { status: 429, body: '', headers: { 'retry-after': '0' } },
    });
    await expect(service.test(request)).resolves.toMatchObject({ outcome: 'connected' });
    expect(token.requests.map(({ authentication }) => authentication)).toEqual(['basic', 'basic', 'basic']);
  });

  it.each([
    ['3600', 1],
    ['0', 4],
  ])('gives up at a lasting limit (Retry-After: %s)', async (seconds, requests) => {
    const { token, request } = await peers({
      instead: () => ({
        status: 429,
        body: { error: 'invalid_request' },
        headers: { 'retry-after': seconds },
      }),
    });
    await expect(service.test(request)).resolves.toMatchObject({
      outcome: 'unreachable',
      cause: 'token_busy',
    });
    expect(token.requests).toHaveLength(requests);
  });

  it('caches a token for its lifetime and shares one request among parallel tests', async () => {
    const { token, request } = await peers({ delayMs: 100 });
    await Promise.all(Array.from({ length: 20 }, () => service.test(request)));
    await service.test(request);
    expect(token.requests).toHaveLength(1);
  });

  it('assumes five minutes and warns when the endpoint does not return the lifetime of a token', async () => {
    const { token, request } = await peers({ expiresIn: undefined });
    const result = await service.test(request);
    expect(result).toMatchObject({
      warnings: expect.arrayContaining([expect.stringContaining('five minutes')]),
    });
    await service.test(request);
    expect(token.requests).toHaveLength(1);
  });

  it('renews a token before it expires', async () => {
    const { token, request } = await peers({ expiresIn: 1 });
    await service.test(request);
    await new Promise((resolve) => setTimeout(resolve, 950));
    await service.test(request);
    expect(token.requests).toHaveLength(2);
  });

  it.each([{ clientSecret: 'other' }, { clientId: 'other' }])(
    'never uses the token of another account %o',
    async (change) => {
      const { token, request } = await peers();
      await service.test(request);
      const { credentials } = request;
      const other = { ...request, credentials: { ...credentials, ...change } as typeof credentials };
      await expect(service.test(other)).resolves.toMatchObject({
        outcome: 'rejected_credentials',
        cause: 'invalid_client',
      });
      expect(token.requests.length).toBeGreaterThan(1);
    },
  );

  it('renews a revoked token once and continues', async () => {
    const { token, mcp, request } = await peers();
    await service.test(request);
    token.valid.clear();
    await expect(service.test(request)).resolves.toMatchObject({ outcome: 'connected' });
    expect(token.requests).toHaveLength(2);
    expect(mcp.calls.get('unauthorized')).toBe(1);
  });

  it('does not loop with a server that refuses every token', async () => {
    const token = await keep(startTokenPeer());
    let calls = 0;
    const mcp = await keep(
      startHttpPeer((request, response) => {
        calls += 1;
        unauthorized(request, response);
      }),
    );
    const result = await service.test(serviceAccount(mcp.url, token.url));
    expect(result).toMatchObject({ outcome: 'rejected_credentials', cause: 'unauthorized' });
    expect(calls).toBe(2);
    expect(token.requests).toHaveLength(2);
    await noSocketsLeft(mcp, token);
  });

  it.each([
    ['unauthorized', unauthorized],
    ['forbidden', forbidden],
  ])('reports %s when credentials are required but none are configured', async (cause, listener) => {
    const mcp = await keep(startHttpPeer(listener));
    await expect(service.test(noAuth(mcp.url))).resolves.toMatchObject({
      outcome: 'rejected_credentials',
      cause,
    });
  });

  it('aborts the token request at the deadline', async () => {
    const { token, request } = await peers({ delayMs: 60_000 });
    await expect(hasty.test(request)).resolves.toMatchObject({
      outcome: 'unreachable',
      cause: 'token_timeout',
    });
    await noSocketsLeft(token);
  });
});
