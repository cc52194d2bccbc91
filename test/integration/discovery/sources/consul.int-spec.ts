import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConsulSource } from '../../../../src/discovery/sources/consul.source.js';
import { noSocketsLeft, startHttpPeer, type Peer } from '../../../support/peers/peer.js';
import { limitedEnv } from '../../../support/limits/limits.js';

const TOKEN = 'CANARY-token';
let peer: Peer;
let catalog: Record<string, string[]>;
let instances: Record<string, unknown[]>;
let answerInstead: { status: number; body: string } | undefined;

beforeAll(async () => {
  peer = await startHttpPeer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    const found =
      path === '/v1/catalog/services' ? catalog : (instances[path.replace('/v1/health/service/', '')] ?? []);
    const isKnown = request.headers['x-consul-token'] === TOKEN;
    const refusal = isKnown ? undefined : { status: 403, body: `Permission denied: CANARY` };
    const { status, body } = answerInstead ?? refusal ?? { status: 200, body: JSON.stringify(found) };
    response
      .writeHead(status, { 'content-type': 'application/json', location: 'http://127.0.0.1:1/' })
      .end(body);
  });
});
afterAll(() => peer.close());
beforeEach(() => {
  catalog = {};
  instances = {};
  answerInstead = undefined;
});

const never = new AbortController().signal;
function sourceOf(consul: Record<string, string> = {}, settings: Record<string, string> = {}): ConsulSource {
  const url = peer.url.replace(/\/$/, '');
  const env = limitedEnv('maintenance', {
    DISCOVERY_SOURCES: JSON.stringify({ consul: { url, tokenFrom: 'CONSUL_TOKEN', ...consul } }),
    CONSUL_TOKEN: TOKEN,
    OTHER_TOKEN: 'other',
    ...settings,
  });
  return new ConsulSource(env, env.get('DISCOVERY_SOURCES').consul!);
}

/** Returns an instance as Consul's health endpoint describes it. */
function instance(id: string, service: Record<string, unknown>, check = 'passing') {
  return {
    Node: { ID: 'n', Node: 'node1', Address: '10.0.0.9', Datacenter: 'dc1' },
    Service: { ID: id, Service: 'x', Tags: [], Address: '', Port: 8_080, Meta: null, ...service },
    Checks: [{ CheckID: 'c', Status: check, Output: 'CANARY' }],
  };
}

describe('ConsulSource', () => {
  it('lists each tagged service as a component, at a passing instance', async () => {
    catalog = {
      consul: [],
      documents: ['svc-platform', 'v2'],
      untagged: [],
      'core db': ['svc-platform'],
      none: ['svc-platform'],
    };
    instances = {
      documents: [
        instance('documents-3', { Address: '10.0.0.3' }),
        instance('documents-1', { Address: '10.0.0.1' }, 'critical'),
        instance('documents-2', {
          Address: 'fd00::2',
          Meta: { version: '1.2.3', 'svc-platform-health-path': '/up' },
        }),
      ],
      'core db': [
        instance(
          'db',
          { Port: 5_432, Meta: { 'svc-platform-kind': 'postgresql', 'svc-platform-key': 'coreDb' } },
          'critical',
        ),
      ],
      untagged: [instance('u', {})],
    };
    const { components, rejected } = await sourceOf().list(never);
    expect(rejected).toEqual([]);
    expect(components.map(({ key, kind, endpoint, version }) => [key, kind, endpoint, version])).toEqual([
      ['coreDb', 'postgresql', 'postgresql://10.0.0.9:5432', null],
      ['documents', 'http', 'http://[fd00::2]:8080', '1.2.3'],
    ]);
    expect(components[1]).toMatchObject({
      source: 'consul',
      options: { healthPath: '/up' },
      credentials: null,
    });
    expect(JSON.stringify(components)).not.toContain('CANARY');
    await noSocketsLeft(peer);
  });

  it('lists all services for the tag *, up to the maximum number of components', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `service-${index + 10}`);
    catalog = Object.fromEntries(['consul', ...names].map((name) => [name, []]));
    instances = Object.fromEntries(names.map((name) => [name, [instance(name, {})]]));
    const all = await sourceOf({ tag: '*' }).list(never);
    expect(all.components.map(({ key }) => key)).toEqual(names);
    const some = await sourceOf({ tag: '*' }, { 'discoveryLimits.components': '3' }).list(never);
    expect(some.components.map(({ key }) => key)).toEqual(names.slice(0, 3));
    expect(some.rejected).toEqual([
      { key: 'consul', reason: 'There are more than 3 components; the rest is ignored.' },
    ]);
  });

  it('reports services that cannot be components', async () => {
    catalog = { 'a.b': ['svc-platform'], portless: ['svc-platform'] };
    instances = { 'a.b': [instance('a', {})], portless: [instance('b', { Port: 0 })] };
    const { rejected } = await sourceOf().list(never);
    expect(rejected).toEqual([
      { key: '?', reason: '?.key must be 1 to 64 letters, digits, _ or -.' },
      { key: 'portless', reason: 'portless.endpoint must name a host, and a port from 1 to 65535 if any.' },
    ]);
  });

  it.each([
    ['forbidden', { tokenFrom: 'OTHER_TOKEN' }, undefined],
    ['http_error', {}, { status: 500, body: 'No cluster leader CANARY' }],
    ['redirect', {}, { status: 302, body: '' }],
    ['protocol', {}, { status: 200, body: 'CANARY' }],
    ['protocol', {}, { status: 200, body: '["CANARY"]' }],
    ['too_large', {}, { status: 200, body: ' '.repeat(9_000_000) }],
    ['refused', { url: 'http://127.0.0.1:1' }, undefined],
    ['configuration', { url: 'http://u:CANARY@127.0.0.1' }, undefined],
  ])('fails with %s without repeating the response', async (failure, settings, answer) => {
    answerInstead = answer;
    const error: unknown = await sourceOf(settings)
      .list(never)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ failure });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('CANARY');
    await noSocketsLeft(peer);
  });
});
