import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONNECTION_FAILURES } from '../../../src/systems/mcp-connection/model/connection-failure.types.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { connectionTestPath, serviceAccount } from '../../support/factories.js';
import { startModernPeer, type ModernPeer } from '../../support/peers/official.peers.js';
import { startOAuthPeer } from '../../support/oidc-issuer.js';
import type { ConnectionTestBody } from './tool-support.js';

const CLIENT = {
  clientId: 'agent',
  clientSecret: 'a secret of thirty-two characters!',
  method: 'client_secret_basic',
} as const;

describe('EGRESS_ALLOW for one application', () => {
  let app: TestApp;
  /** Allowed only for `bank`. */
  let inner: ModernPeer;
  /** Allowed for all applications, but requires a token of an endpoint that is allowed only for `bank`. */
  let shared: ModernPeer;
  let tokens: Awaited<ReturnType<typeof startOAuthPeer>>;

  beforeAll(async () => {
    inner = await startModernPeer([{ name: 'echo' }]);
    tokens = await startOAuthPeer([CLIENT], () => shared.url);
    shared = await startModernPeer([{ name: 'secret-echo' }], (token) => tokens.isIssued(token));
    const hostOf = ({ url }: { url: string }) => new URL(url).host;
    app = await TestApp.start({
      EGRESS_ALLOW: `bank=${hostOf(inner)},bank=${hostOf(tokens)},${hostOf(shared)}`,
    });
  });
  afterAll(async () => {
    await app.close();
    await Promise.all([inner, shared, tokens].map((peer) => peer.close()));
  });

  const test = (appId: string, body: unknown): Promise<TestResponse<ConnectionTestBody>> =>
    app.request('PATCH', connectionTestPath(appId), { body });
  const noAuth = (url: string) => ({ baseUrl: url, authorization: { type: 'NO_AUTH' } });
  const account = () => {
    const { clientId, clientSecret } = CLIENT;
    const authorization = serviceAccount({ clientId, clientSecret, identityProviderUrl: tokens.url });
    return { baseUrl: shared.url, authorization };
  };

  it('allows only this application to call a server', async () => {
    expect((await test('bank', noAuth(inner.url))).body).toMatchObject({ status: 200 });
    for (const appId of ['shop', 'bank2', 'Bank', 'ban']) {
      expect((await test(appId, noAuth(inner.url))).body).toMatchObject({
        details: CONNECTION_FAILURES.blocked,
      });
    }
  });

  it('does not let other applications use a token that was issued for it', async () => {
    expect((await test('bank', account())).body).toMatchObject({ status: 200 });
    expect((await test('shop', account())).body).toMatchObject({
      details: CONNECTION_FAILURES.token_blocked,
    });
    expect((await test('bank', account())).body).toMatchObject({ status: 200 });
  });

  it('requires a target, and is not supported by OUTBOUND_NO_PROXY', async () => {
    for (const settings of [
      { EGRESS_ALLOW: 'bank=' },
      { OUTBOUND_PROXY: 'http://127.0.0.1:9', OUTBOUND_NO_PROXY: 'bank=10.0.0.1' },
    ]) {
      await expect(TestApp.start(settings)).rejects.toThrow(/EGRESS_ALLOW|OUTBOUND_NO_PROXY/);
    }
  });
});
