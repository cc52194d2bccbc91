import { describe, expect, it } from 'vitest';
import { startMongodbStub } from '../../support/discovery/mongodb.stub.js';
import { type Page, pages, noSocketsLeft, type Peer, startHttpPeer } from '../../support/peers/peer.js';
import { component, failureOf, runProbe } from '../../support/discovery/run-probe.js';
import { startTlsFront } from '../../support/discovery/tls-servers.js';
import { OidcIssuer, startOAuthPeer } from '../../support/oidc-issuer.js';
import { tlsCertificate } from '../../support/peers/certificates.js';
import { keptPeers } from '../../support/peers/kept-peers.js';

/** A shorter timeout, because the MongoDB driver retries until it expires before it reports the failure. */
const UNTIL_LATE = { timeoutMs: 5_000 };
const keep = keptPeers();

const serve = (byPath: Record<string, Page>): Promise<Peer> => keep(startHttpPeer(pages(byPath)));

describe('the probe of oidc', () => {
  it('finds the algorithms of a real provider, then nothing, then the provider again', async () => {
    const issuer = await OidcIssuer.start([{ id: 'client', secret: 'secret' }]);
    const target = component('oidc', issuer.url);
    expect(await runProbe(target)).toEqual({ capabilities: ['RS256'], warnings: [] });
    await issuer.stop();
    expect(await failureOf(target)).toBe('refused');
    await issuer.start();
    expect(await runProbe(target)).toEqual({ capabilities: ['RS256'], warnings: [] });
    const registered = component('oidc', issuer.url, { trust: 'registered' });
    expect(await runProbe(registered)).toEqual({ capabilities: ['RS256'], warnings: [] });
    await issuer.stop();
  });

  it('requires the issuer with its path, with or without a trailing slash, and keys', async () => {
    const at = '/realms/one/.well-known/openid-configuration';
    const byPath: Record<string, Page> = {};
    const peer = await serve(byPath);
    const document = { issuer: `${peer.url}realms/one/`, jwks_uri: `${peer.url}keys` };
    byPath[at] = { body: document };
    byPath['/keys'] = { body: { keys: [{ kid: '1', alg: 'ES256' }, { kid: '2' }] } };
    const target = component('oidc', `${peer.url}realms/one`);
    expect(await runProbe(target)).toMatchObject({ capabilities: ['ES256'] });
    byPath['/keys'] = { body: { keys: [] } };
    expect(await failureOf(target)).toBe('down');
    byPath['/keys'] = { status: 503 };
    expect(await failureOf(target)).toBe('http_error');
    byPath[at] = { body: { ...document, issuer: `${peer.url}realms/two` } };
    expect(await failureOf(target)).toBe('protocol');
  });
});

describe('the probe of a token endpoint', () => {
  it.each(['operator', 'registered'] as const)(
    'considers a real server that refuses the request healthy (named by %s), and sends no credentials',
    async (trust) => {
      const client = { clientId: 'client', clientSecret: 'secret', method: 'client_secret_basic' as const };
      const peer = await keep(startOAuthPeer([client], () => 'https://resource.example.com'));
      const credentials = { username: 'client', password: 'secret' };
      const target = component('token-endpoint', peer.url, { trust, credentials });
      // With these credentials the server would issue a token, which the probe would not accept as healthy.
      expect(await runProbe(target)).toEqual({ warnings: [] });
      await noSocketsLeft(peer);
      await peer.close();
      expect(await failureOf(target)).toBe('refused');
      await peer.reopen();
      expect(await runProbe(target)).toEqual({ warnings: [] });
    },
  );

  it.each([
    [200, 'protocol'],
    [403, 'forbidden'],
    [404, 'http_error'],
    [503, 'http_error'],
  ])('does not consider %i healthy', async (status, failure) => {
    const peer = await serve({ '/': { status } });
    expect(await failureOf(component('token-endpoint', peer.url))).toBe(failure);
  });
});

describe('the probe of elasticsearch', () => {
  const clusters = {
    elasticsearch: { number: '8.17.4', build_flavor: 'default' },
    opensearch: { distribution: 'opensearch', number: '2.19.1' },
  };

  it.each(Object.entries(clusters))('distinguishes the status colors of %s', async (type, version) => {
    const byPath: Record<string, Page> = { '/': { body: { name: 'node-1', version } } };
    const peer = await serve(byPath);
    const target = component('elasticsearch', peer.url);
    const turn = (status: string): Page => ({ body: { cluster_name: 'c', status, number_of_nodes: 3 } });
    byPath['/_cluster/health'] = turn('green');
    const healthy = { type, version: version.number, warnings: [] };
    expect(await runProbe(target)).toEqual(healthy);
    byPath['/_cluster/health'] = turn('yellow');
    expect((await runProbe(target)).warnings).toEqual([{ code: 'degraded' }]);
    byPath['/_cluster/health'] = turn('red');
    expect(await failureOf(target)).toBe('down');
    byPath['/_cluster/health'] = { status: 403, body: { error: { type: 'security_exception' } } };
    expect(await failureOf(target)).toBe('forbidden');
    byPath['/_cluster/health'] = turn('green');
    await peer.close();
    expect(await failureOf(target)).toBe('refused');
    await peer.reopen();
    expect(await runProbe(target)).toEqual(healthy);
  });

  it('authenticates with name and password, and does not mistake another service for a cluster', async () => {
    const peer = await keep(
      startHttpPeer((request, response) => {
        const isKnown = request.headers.authorization === 'Basic cHJvYmU6cmlnaHQ=';
        const body =
          request.url === '/' ? { version: { number: '7.10.2' } } : { status: 'green', timed_out: false };
        response.writeHead(isKnown ? 200 : 401).end(JSON.stringify(body));
      }),
    );
    const as = (password: string) =>
      component('elasticsearch', peer.url, { credentials: { username: 'probe', password } });
    expect(await runProbe(as('right'))).toMatchObject({ type: 'elasticsearch', version: '7.10.2' });
    expect(await failureOf(as('wrong'))).toBe('auth');
    const other = await serve({ '/': { body: { version: '1.0' } } });
    expect(await failureOf(component('elasticsearch', other.url))).toBe('protocol');
  });
});

describe('the probe of mongodb', () => {
  const STATUS = {
    ok: 1,
    version: '8.0.4',
    connections: { current: 12, active: 5, available: 88, totalCreated: 400 },
  };
  const endpointOf = ({ url }: Peer) => url.replace(/^http/, 'mongodb').replace(/\/$/, '');

  it('counts connections, then finds nothing, then counts again', async () => {
    const peer = await keep(startMongodbStub(() => STATUS));
    const found = {
      type: 'mongodb',
      version: '8.0.4',
      connections: { active: 5, idle: 7, max: 100 },
      warnings: [],
    };
    const target = component('mongodb', `${endpointOf(peer)}/orders`);
    expect(await runProbe(target)).toEqual(found);
    await noSocketsLeft(peer);
    await peer.close();
    expect(await failureOf(target, UNTIL_LATE)).toBe('refused');
    await peer.reopen();
    expect(await runProbe(target)).toEqual(found);
  });

  it('warns when nearly all connections are used', async () => {
    const connections = { current: 80, active: 1, available: 20 };
    const peer = await keep(startMongodbStub(() => ({ ...STATUS, connections })));
    expect((await runProbe(component('mongodb', endpointOf(peer)))).warnings).toEqual([
      { code: 'connections_nearly_used', used: 80, max: 100 },
    ]);
  });

  it('trusts a certificate for the address it was given, and no other', async () => {
    const certificate = await tlsCertificate();
    const peer = await keep(startMongodbStub(() => STATUS));
    const front = await startTlsFront(Number(new URL(peer.url).port), certificate);
    const options = { tls: true, ca: certificate.cert };
    const target = component('mongodb', `mongodb://127.0.0.1:${front.port}`, { options });
    const warnings = [{ code: 'certificate_expires', days: 1 }];
    expect(await runProbe(target)).toMatchObject({ version: '8.0.4', warnings });
    expect(await failureOf({ ...target, options: { tls: true } }, UNTIL_LATE)).toBe('tls');
    const endpoint = target.endpoint.replace('127.0.0.1', 'localhost');
    expect(await failureOf({ ...target, endpoint }, UNTIL_LATE)).toBe('tls');
    await noSocketsLeft(peer);
    await front.close();
  });

  it.each([
    [{ ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not authorized on admin' }, 'forbidden'],
    [{ ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'no' }, 'auth'],
    [{ ok: 0, code: 91, codeName: 'ShutdownInProgress', errmsg: 'bye' }, 'down'],
    [{ ok: 1, version: '8.0.4' }, 'protocol'],
  ])('interprets the answer %o', async (answer, failure) => {
    const peer = await keep(startMongodbStub(() => answer));
    expect(await failureOf(component('mongodb', endpointOf(peer)))).toBe(failure);
    await noSocketsLeft(peer);
  });
});
