import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KubernetesSource } from '../../../../src/discovery/sources/kubernetes.source.js';
import { startKubernetesPeer, type KubernetesPeer } from '../../../support/discovery/source-servers.js';
import { noSocketsLeft } from '../../../support/peers/peer.js';
import { tlsCertificate, type TlsCertificate } from '../../../support/peers/certificates.js';
import { IN_TIME_MS } from '../../../support/patience.js';
import { limitedEnv } from '../../../support/limits/limits.js';

const LABEL = { 'svc.platform/component': 'true' };
const folder = mkdtempSync(join(tmpdir(), 'svc-kubernetes-'));
let certificate: TlsCertificate;
let peer: KubernetesPeer;

beforeAll(async () => {
  certificate = await tlsCertificate();
  peer = await startKubernetesPeer(certificate);
});
afterAll(async () => {
  await peer.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  Object.assign(peer, { services: [], forbidden: [], requests: [], isSilent: false, token: 'first-token' });
  writeAccount({ token: 'first-token\n', 'ca.crt': certificate.cert });
});

function writeAccount(files: Record<string, string>): void {
  mkdirSync(folder, { recursive: true });
  Object.entries(files).forEach(([name, text]) => writeFileSync(join(folder, name), text));
}

const inNamespaces = (...namespaces: string[]): string => JSON.stringify({ kubernetes: { namespaces } });

function sourceOf(settings: Record<string, string> = {}): KubernetesSource {
  const env = limitedEnv('maintenance', {
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(peer.port),
    'discoveryLimits.kubernetesAccountDir': folder,
    DISCOVERY_SOURCES: inNamespaces('prod'),
    ...settings,
  });
  return new KubernetesSource(env, env.get('DISCOVERY_SOURCES').kubernetes!);
}

const never = new AbortController().signal;
const http = [{ name: 'http', port: 8_080 }];

describe('KubernetesSource', () => {
  it('reads every page of the labelled services, and their annotations', async () => {
    const version = { 'app.kubernetes.io/version': '2.4.1' };
    const annotations = { 'svc.platform/key': 'coreDb', 'svc.platform/kind': 'postgresql' };
    peer.services = [
      { name: 'documents', namespace: 'prod', labels: { ...LABEL, ...version }, ports: http },
      { name: 'other', namespace: 'prod', ports: http },
      { name: 'elsewhere', namespace: 'test', labels: LABEL, ports: http },
      { name: 'core', namespace: 'prod', labels: LABEL, ports: [{ port: 5_432 }], annotations },
      {
        name: 'gateway',
        namespace: 'prod',
        labels: LABEL,
        ports: [
          { name: 'metrics', port: 9_090 },
          { name: 'https', port: 8_443 },
        ],
        annotations: { 'svc.platform/health-path': '/ready' },
      },
      {
        name: 'reports',
        namespace: 'prod',
        labels: LABEL,
        ports: [...http, { name: 'admin', port: 9_000 }],
        annotations: { 'svc.platform/port': 'admin', 'svc.platform/scheme': 'https' },
      },
      { name: 'plain', namespace: 'prod', labels: LABEL, ports: [{ name: 'web', port: 443 }] },
    ];
    const { components, rejected } = await sourceOf().list(never);
    expect(rejected).toEqual([]);
    expect(components.map(({ key, kind, map, endpoint }) => [key, kind, map, endpoint])).toEqual([
      ['documents', 'http', 'services', 'http://documents.prod.svc:8080'],
      ['coreDb', 'postgresql', 'infrastructure', 'postgresql://core.prod.svc:5432'],
      ['gateway', 'http', 'services', 'https://gateway.prod.svc:8443'],
      ['reports', 'http', 'services', 'https://reports.prod.svc:9000'],
      ['plain', 'http', 'services', 'https://plain.prod.svc:443'],
    ]);
    expect(components[0]).toMatchObject({ version: '2.4.1', source: 'kubernetes', trust: 'operator' });
    expect(components[2]).toMatchObject({ options: { healthPath: '/ready' } });
    expect(peer.requests).toHaveLength(3);
    await noSocketsLeft(peer);
  });

  it('distinguishes services of several namespaces', async () => {
    peer.services = ['prod', 'test'].map((namespace) => ({
      name: 'docs',
      namespace,
      labels: LABEL,
      ports: http,
    }));
    for (const namespaces of [['prod', 'test'], ['*']]) {
      const { components } = await sourceOf({ DISCOVERY_SOURCES: inNamespaces(...namespaces) }).list(never);
      expect(components.map(({ key }) => key)).toEqual(['docs-prod', 'docs-test']);
    }
  });

  it('omits services that cannot be components, and gives the reason', async () => {
    const annotated = (name: string, annotations: Record<string, string>) => ({
      name,
      namespace: 'prod',
      labels: LABEL,
      ports: http,
      annotations,
    });
    peer.services = [
      { name: 'portless', namespace: 'prod', labels: LABEL },
      annotated('kindless', { 'svc.platform/kind': 'CANARY' }),
      annotated('pathless', { 'svc.platform/health-path': 'CANARY' }),
      annotated('lost', { 'svc.platform/scheme': 'https://CANARY.example.com/' }),
      annotated('queue', { 'svc.platform/kind': 'kafka', 'svc.platform/health-path': '/CANARY' }),
      annotated('one', { 'svc.platform/key': 'same' }),
      annotated('two', { 'svc.platform/key': 'same' }),
    ];
    const { components, rejected } = await sourceOf().list(never);
    expect(components.map(({ key, name }) => [key, name])).toEqual([['same', 'same']]);
    expect(rejected).toEqual([
      { key: 'prod.portless', reason: 'The service has no port, or lacks the port in its annotation.' },
      { key: 'kindless', reason: 'prod.kindless.kind must be a known kind.' },
      { key: 'pathless', reason: expect.stringContaining('prod.pathless.options.healthPath must be a path') },
      { key: 'lost', reason: expect.stringMatching(/^prod.lost.endpoint must/) },
      { key: 'queue', reason: 'prod.queue.options.healthPath is not a known member.' },
      { key: 'same', reason: 'The key occurs more than once in this source; the first one is used.' },
    ]);
    expect(JSON.stringify(rejected)).not.toContain('CANARY');
  });

  it('stops at the maximum number of components and reports it', async () => {
    peer.services = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
      name,
      namespace: 'prod',
      labels: LABEL,
      ports: http,
    }));
    const { components, rejected } = await sourceOf({ 'discoveryLimits.components': '2' }).list(never);
    expect(components.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(rejected).toEqual([
      { key: 'kubernetes', reason: 'There are more than 2 components; the rest is ignored.' },
    ]);
    expect(peer.requests).toHaveLength(1);
  });

  it('reads the token for each listing, because the cluster rotates it', async () => {
    const source = sourceOf();
    peer.token = 'second-token';
    await expect(source.list(never)).rejects.toMatchObject({ failure: 'auth' });
    writeAccount({ token: 'second-token' });
    await expect(source.list(never)).resolves.toEqual({ components: [], rejected: [] });
  });

  it('reports a missing right without repeating the response', async () => {
    peer.forbidden = ['prod'];
    const error: unknown = await sourceOf()
      .list(never)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ failure: 'forbidden' });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('CANARY');
    await noSocketsLeft(peer);
  });

  it.each([
    ['an unknown certificate authority', 'tls', () => void 0, true],
    ['an unreachable server', 'refused', () => ({ KUBERNETES_SERVICE_PORT: '1' }), false],
    ['a pod outside of a cluster', 'configuration', () => ({ KUBERNETES_SERVICE_HOST: '' }), false],
    [
      'an account that is not mounted',
      'unreadable',
      () => ({ 'discoveryLimits.kubernetesAccountDir': '/nowhere' }),
      false,
    ],
    ['an answer that is too large', 'too_large', () => ({ 'discoveryLimits.sourceBytes': '16384' }), false],
  ])('fails for %s with %s', async (_what, failure, settings, isOtherAuthority) => {
    const annotations = { note: 'x'.repeat(20_000) };
    peer.services = [{ name: 'large', namespace: 'prod', labels: LABEL, ports: http, annotations }];
    if (isOtherAuthority) {
      writeAccount({ 'ca.crt': (await tlsCertificate()).cert });
    }
    await expect(sourceOf(settings() ?? {}).list(never)).rejects.toMatchObject({ failure });
  });

  it('stops when its signal is aborted, and leaves no socket open', async () => {
    peer.isSilent = true;
    const started = performance.now();
    const listing = sourceOf().list(AbortSignal.timeout(300));
    await expect(listing).rejects.toMatchObject({ failure: 'timeout' });
    expect(performance.now() - started).toBeLessThan(IN_TIME_MS);
    await noSocketsLeft(peer);
  });
});
