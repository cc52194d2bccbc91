import { Provider } from 'oidc-provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TokenIntrospection } from '../../../src/platform/auth/token-introspection.js';
import { IntrospectionUnavailableError } from '../../../src/platform/auth/auth.errors.js';
import { IssuerServer, StubIssuer } from '../../support/issuer.js';
import { call, seen, startGuardedApp, type GuardedApp } from './guarded-app.js';

const CLIENT = { OIDC_INTROSPECTION_CLIENT_ID: 'svc:api', OIDC_INTROSPECTION_CLIENT_SECRET: 'a secret+' };
const BASIC = `Basic ${Buffer.from('svc%3Aapi:a+secret%2B').toString('base64')}`;
const later = () => Date.now() + 60_000;

/** Introspection endpoint with scripted revocations and failures. */
class Endpoint extends IssuerServer {
  readonly revoked = new Set<string>();
  readonly asked: { authorization: string | undefined; token: string | null; hint: string | null }[] = [];
  /** Response that replaces the verdict, if set. */
  answer: { status: number; body: string } | undefined;
  held: (() => void)[] | undefined;

  override handler: IssuerServer['handler'] = (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const form = new URLSearchParams(body);
      const token = form.get('token');
      this.asked.push({
        authorization: request.headers.authorization,
        token,
        hint: form.get('token_type_hint'),
      });
      const send = (): void => {
        const verdict = { status: 200, body: JSON.stringify({ active: !this.revoked.has(token ?? '') }) };
        const { status, body: text } = this.answer ?? verdict;
        response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      };
      if (this.held === undefined) {
        send();
      } else {
        this.held.push(send);
      }
    });
  };
}

describe('introspection of bearer tokens', () => {
  let issuer: StubIssuer;
  let endpoint: Endpoint;
  let app: GuardedApp | undefined;

  beforeEach(async () => {
    issuer = await StubIssuer.start();
    endpoint = new Endpoint();
    await endpoint.start();
  });
  afterEach(async () => {
    await app?.stop();
    app = undefined;
    seen.between = () => undefined;
    await Promise.all([issuer.stop(), endpoint.stop()]);
  });

  const start = async (settings: Record<string, string> = {}): Promise<void> => {
    app = await startGuardedApp({
      issuerUrl: issuer.url,
      settings: { OIDC_INTROSPECTION_URL: `${endpoint.url}/introspect`, ...CLIENT, ...settings },
    });
  };
  const get = (token: string) => call(`${app?.url}/any-caller`, token);

  it('accepts an active token, and queries the endpoint once for many requests', async () => {
    await start();
    const token = await issuer.sign();
    const answers = await Promise.all(Array.from({ length: 8 }, () => get(token)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(endpoint.asked).toEqual([{ authorization: BASIC, token, hint: 'access_token' }]);
  });

  it('refuses a revoked token with 401, and still accepts others', async () => {
    await start();
    const [good, bad] = [await issuer.sign(), await issuer.sign()];
    endpoint.revoked.add(bad);
    const { status, body } = await get(bad);
    expect([status, body]).toEqual([
      401,
      {
        error: 'Unauthorized',
        message: 'Authentication required or failed.',
        status: 401,
        details: 'The access token is no longer active.',
      },
    ]);
    expect((await get(good)).status).toBe(200);
  });

  it('refuses a token as soon as it is revoked if verdicts are not cached', async () => {
    await start({ 'tokenLimits.introspectionCacheSeconds': '0' });
    const token = await issuer.sign();
    expect((await get(token)).status).toBe(200);
    endpoint.revoked.add(token);
    expect((await get(token)).status).toBe(401);
  });

  it('detects a revocation during a request that authenticates its caller again', async () => {
    await start({ 'tokenLimits.introspectionCacheSeconds': '0' });
    const token = await issuer.sign();
    const twice = () => call(`${app?.url}/twice`, token);
    expect((await twice()).status).toBe(200);
    seen.between = () => void endpoint.revoked.add(token);
    expect((await twice()).status).toBe(401);
  });

  it('does not query the endpoint about a token that is refused anyway', async () => {
    await start();
    const tokens = [await issuer.sign({ aud: 'another' }), await issuer.sign({ exp: 1 }), 'no-token'];
    for (const token of tokens) {
      expect((await get(token)).status).toBe(401);
    }
    expect(endpoint.asked).toEqual([]);
  });

  it.each([
    ['refuses the client', { status: 401, body: '{"active":true}' }],
    ['fails', { status: 500, body: '{"active":true}' }],
    ['redirects', { status: 302, body: '{"active":true}' }],
    ['sends plain text', { status: 200, body: 'active' }],
    ['omits the verdict', { status: 200, body: '{}' }],
    ['sends the verdict as a string', { status: 200, body: '{"active":"true"}' }],
    ['sends no object', { status: 200, body: 'null' }],
    ['sends too much', { status: 200, body: `{"active":true,"x":"${'x'.repeat(70_000)}"}` }],
  ])('accepts no token while the endpoint %s', async (_what, answer) => {
    await start();
    endpoint.answer = answer;
    const { status, body, headers } = await get(await issuer.sign());
    expect([status, body['message']]).toEqual([
      503,
      'The token issuer does not answer whether the token is active.',
    ]);
    expect(headers.get('retry-after')).toBe('1');
  });

  it('accepts other tokens immediately after the endpoint fails for one', async () => {
    await start();
    const usual = endpoint.answer;
    endpoint.answer = { status: 413, body: '' };
    expect((await get(await issuer.sign())).status).toBe(503);
    endpoint.answer = usual;
    expect((await get(await issuer.sign({ sub: 'other' }))).status).toBe(200);
  });

  it('accepts no token while the endpoint hangs or is down, and recovers', async () => {
    await start({ 'tokenLimits.timeoutMs': '200', 'tokenLimits.introspectionCacheSeconds': '0' });
    endpoint.held = [];
    expect((await get(await issuer.sign())).status).toBe(503);
    endpoint.held = undefined;
    await expect.poll(async () => (await get(await issuer.sign())).status, { timeout: 20_000 }).toBe(200);
    await endpoint.stop();
    expect((await get(await issuer.sign())).status).toBe(503);
    await endpoint.start();
    await expect.poll(async () => (await get(await issuer.sign())).status, { timeout: 20_000 }).toBe(200);
  });

  describe('TokenIntrospection', () => {
    let now = 1_000_000;
    const open: TokenIntrospection[] = [];
    const introspection = (rest: { cacheMs?: number; authorization?: string; url?: string } = {}) => {
      const options = {
        url: endpoint.url,
        authorization: BASIC,
        timeoutMs: 5_000,
        connections: 2,
        cacheMs: 1_000,
      };
      const sut = new TokenIntrospection({ ...options, ...rest }, () => now);
      open.push(sut);
      return sut;
    };
    afterEach(async () => {
      await Promise.all(open.splice(0).map((sut) => sut.close()));
    });

    it('caches a verdict, but never beyond the expiry of the token', async () => {
      const sut = introspection();
      const ask = (token: string, expiresAt: number) => sut.isActive(token, expiresAt);
      await ask('long', now + 60_000);
      await ask('short', now + 400);
      now += 500;
      await ask('long', now + 60_000);
      await ask('short', now);
      expect(endpoint.asked.map(({ token }) => token)).toEqual(['long', 'short', 'short']);
      now += 500;
      await ask('long', now + 60_000);
      expect(endpoint.asked.map(({ token }) => token)).toEqual(['long', 'short', 'short', 'long']);
    });

    it('uses the expiry that the endpoint returns if it is earlier', async () => {
      endpoint.answer = { status: 200, body: JSON.stringify({ active: true, exp: (now + 200) / 1_000 }) };
      const sut = introspection();
      await sut.isActive('token', now + 60_000);
      now += 300;
      await sut.isActive('token', now + 60_000);
      expect(endpoint.asked).toHaveLength(2);
    });

    it('sends no query to an endpoint that has just failed', async () => {
      endpoint.answer = { status: 500, body: '' };
      const sut = introspection();
      for (const token of ['one', 'two', 'three']) {
        await expect(sut.isActive(token, now + 60_000)).rejects.toThrow(IntrospectionUnavailableError);
      }
      expect(endpoint.asked).toHaveLength(1);
      endpoint.answer = undefined;
      now += 1_000;
      await expect(sut.isActive('one', now + 60_000)).resolves.toBe(true);
    });

    it('works with a real provider, including revocation', async () => {
      const server = new IssuerServer();
      await server.start();
      const client = {
        client_id: 'svc',
        client_secret: 'secret with + and :',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      };
      server.handler = new Provider(server.url, {
        clients: [client as never],
        features: {
          devInteractions: { enabled: false },
          clientCredentials: { enabled: true },
          introspection: { enabled: true, allowedPolicy: () => true },
          revocation: { enabled: true, allowedPolicy: () => true },
        },
        ttl: { ClientCredentials: 300 },
      }).callback();
      const encoded = new URLSearchParams({ s: client.client_secret }).toString().slice(2);
      const authorization = `Basic ${Buffer.from(`svc:${encoded}`).toString('base64')}`;
      const post = (path: string, form: Record<string, string>) =>
        fetch(`${server.url}${path}`, {
          method: 'POST',
          headers: { authorization },
          body: new URLSearchParams(form),
        });
      const answer = (await (await post('/token', { grant_type: 'client_credentials' })).json()) as {
        access_token: string;
      };
      const sut = introspection({ url: `${server.url}/token/introspection`, authorization, cacheMs: 0 });
      expect(await sut.isActive(answer.access_token, later())).toBe(true);
      expect(await sut.isActive('unknown', later())).toBe(false);
      await post('/token/revocation', { token: answer.access_token });
      expect(await sut.isActive(answer.access_token, later())).toBe(false);
      const wrong = introspection({
        url: `${server.url}/token/introspection`,
        authorization: `Basic ${Buffer.from('svc:wrong').toString('base64')}`,
      });
      await expect(wrong.isActive(answer.access_token, later())).rejects.toThrow(
        IntrospectionUnavailableError,
      );
      await server.stop();
    });
  });
});
