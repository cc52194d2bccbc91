import { afterAll, afterEach, describe, expect, it } from 'vitest';

import {
  connectionService,
  noAuth,
  serviceAccount,
  stopServices,
} from '../../support/peers/connection-tests.js';
import { startModernPeer } from '../../support/peers/modern.peer.js';
import { startOAuthPeer } from '../../support/peers/oauth.peer.js';
import { forbidden, unauthorized } from '../../support/peers/pathologies.js';
import { noSocketsLeft, type Peer, startHttpPeer } from '../../support/peers/peer.js';
import { sendResult, startScriptedMcp } from '../../support/peers/scripted-mcp.peer.js';
import { startTokenPeer, type TokenScript } from '../../support/peers/token.peer.js';

const open: Peer[] = [];
const keep = async <T extends Peer>(starting: Promise<T>): Promise<T> => {
  const peer = await starting;
  open.push(peer);
  return peer;
};

async function peers(script: Partial<TokenScript> = {}) {
  const token = await keep(startTokenPeer(script));
  const mcp = await keep(startModernPeer([{ name: 'a' }], (bearer) => token.valid.has(bearer ?? '')));
  return { token, mcp, request: serviceAccount(mcp.url, token.url) };
}

describe('Connection test with a service account', () => {
  const service = connectionService({ MCP_TEST_TIMEOUT_MS: '4000' });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((peer) => peer.close()));
  });
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

  it('removes what was sent from the tools that a server lists, before anything is cut', async () => {
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

  it('drops resource for a real OAuth server that does not know it, and says so', async () => {
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
    ['any', 'invalid_request', ['basic', 'basic']],
    ['post', 'invalid_target', ['basic', 'post', 'post']],
  ] as const)(
    'finds the way of an endpoint that wants %s and answers resource with %s',
    async (method, error, ways) => {
      const { token, mcp, request } = await peers({ method, refuseResource: error });
      await expect(service.test(request)).resolves.toMatchObject({ outcome: 'connected' });
      expect(token.requests.map(({ authentication }) => authentication)).toEqual(ways);
      expect(token.requests[0]).toMatchObject({ grant_type: 'client_credentials', resource: mcp.url });
      expect(token.requests.at(-1)?.['resource']).toBe(error === undefined ? mcp.url : undefined);
    },
  );

  it('keeps a token for its life and shares one request among parallel tests', async () => {
    const { token, request } = await peers({ delayMs: 100 });
    await Promise.all(Array.from({ length: 20 }, () => service.test(request)));
    await service.test(request);
    expect(token.requests).toHaveLength(1);
  });

  it('assumes five minutes and says so when the endpoint does not say how long a token lives', async () => {
    const { token, request } = await peers({ expiresIn: undefined });
    const result = await service.test(request);
    expect(result).toMatchObject({
      warnings: expect.arrayContaining([expect.stringContaining('five minutes')]),
    });
    await service.test(request);
    expect(token.requests).toHaveLength(1);
  });

  it('asks again ahead of expiry', async () => {
    const { token, request } = await peers({ expiresIn: 1 });
    await service.test(request);
    await new Promise((resolve) => setTimeout(resolve, 950));
    await service.test(request);
    expect(token.requests).toHaveLength(2);
  });

  it.each([{ clientSecret: 'other' }, { clientId: 'other' }])(
    'never serves the token of another account %o',
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

  it('renews a revoked token once and goes on', async () => {
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
    [unauthorized, 'unauthorized'],
    [forbidden, 'forbidden'],
  ])('says rejected credentials for a server that wants some', async (listener, cause) => {
    const mcp = await keep(startHttpPeer(listener));
    await expect(service.test(noAuth(mcp.url))).resolves.toMatchObject({
      outcome: 'rejected_credentials',
      cause,
    });
  });

  it('does not send the token endpoint request when nobody waits for it any more', async () => {
    const { token, request } = await peers({ delayMs: 60_000 });
    await expect(service.test(request)).resolves.toMatchObject({
      outcome: 'unreachable',
      cause: 'token_timeout',
    });
    await noSocketsLeft(token);
  });
});
