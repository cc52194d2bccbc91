import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PROBE_FAILURES } from '../../../../src/discovery/model/failures.js';
import type { DiscoveryResult } from '../../../../src/discovery/model/scan.types.js';
import { TestApp } from '../../../../test/support/app.js';
import { freePort } from '../../../../test/support/databases/process-resources.js';
import { scratchDatabase, startDatabases } from '../../../../test/support/databases/start-databases.js';
import { type Started, tryStart } from '../../../../test/support/databases/local-server.js';
import { kafkaBroker, natsBroker, rabbitmqBroker } from './platform/brokers.js';
import { curlJson, type RealComponent, type ShownComponent } from './platform/real-component.js';
import { companySso, httpService, mailServer, operatorMcp, registeredMcp } from './platform/services.js';
import { postgresqlStore, redisStore, s3Store, sqlStore } from './platform/stores.js';
import { startDnsmasq, startKubernetesPeer } from '../../../../test/support/discovery/source-servers.js';
import { tlsCertificate } from '../../../../test/support/peers/certificates.js';
import { migrateDatabase } from '../../../../test/support/test-database.js';
import { createdSystem } from '../../../../test/integration/systems/rows.js';

/** Tests a platform of real servers against the results of their own command-line clients. */
const PATH = '/api/platform/discover';
const LABELS = { 'svc.platform/component': 'true' };
/** Patience with servers that restart on a busy machine. */
const PATIENCE = { timeout: 45_000, interval: 200 };

const sql = await startDatabases(['mariadb', 'mysql'], { fast: true });
const [own, legacy] = ['mariadb', 'mysql'].map((kind) => sql.databases.find((each) => each.kind === kind));
const [orders, documents, mcp] = await Promise.all([
  httpService('orderService'),
  httpService('dnsService'),
  registeredMcp('shop/everything'),
]);
const started: Started<RealComponent>[] = await Promise.all([
  ...[companySso, mailServer, operatorMcp, s3Store].map((start) => tryStart(start)),
  ...[postgresqlStore, redisStore, rabbitmqBroker, natsBroker, kafkaBroker].map((start) => tryStart(start)),
  tryStart(() => present(legacy, 'MySQL').then((database) => sqlStore('legacyDb', database))),
  tryStart(() => present(own, 'MariaDB').then((database) => sqlStore('database', database))),
]);
const components: RealComponent[] = [
  orders,
  documents,
  mcp,
  ...started.flatMap(({ server }) => (server === undefined ? [] : [server])),
];
const missing = started.flatMap((each) => (each.missing === undefined ? [] : [each.missing]));
const dnsPort = await freePort();
const records = [
  `--srv-host=_http._tcp.svc.test,localhost,${documents.port},10,5`,
  '--txt-record=localhost,key=dnsService',
];
const startDns = () => startDnsmasq(records, dnsPort);
const dns = await tryStart(startDns);
const certificate = await tlsCertificate();
const kubernetes = await startKubernetesPeer(certificate);
kubernetes.services = ['web', 'gateway'].map((name) => ({
  name,
  namespace: 'prod',
  labels: LABELS,
  ports: [{ port: 80 }],
}));

async function present<T>(server: T | undefined, name: string): Promise<T> {
  if (server === undefined) {
    throw new Error(`${name} is not available`);
  }
  return server;
}

describe.skipIf(own === undefined)(
  `a platform of real servers${missing.map((each) => `; ${each}`).join('')}`,
  () => {
    let app: TestApp;
    let folder: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'svc-platform-'));
      const databaseUrl = await scratchDatabase(own!.url, 'svc_platform');
      await migrateDatabase({ url: databaseUrl, settings: {} });
      process.env['DATABASE_URL'] = databaseUrl;
      const files = { 'platform.json': configuration(), token: kubernetes.token, 'ca.crt': certificate.cert };
      await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
      app = await TestApp.start({
        DISCOVERY_CONFIG_FILE: join(folder, 'platform.json'),
        'discoveryLimits.probeTimeoutMs': '5000',
        'discoveryLimits.scanTimeoutMs': '30000',
        DISCOVERY_SOURCES: JSON.stringify({
          kubernetes: { namespaces: ['prod'] },
          ...(dns.missing === undefined
            ? { dns: { domains: ['svc.test'], servers: [`127.0.0.1:${dnsPort}`] } }
            : {}),
        }),
        'discoveryLimits.kubernetesAccountDir': folder,
        KUBERNETES_SERVICE_HOST: '127.0.0.1',
        KUBERNETES_SERVICE_PORT: String(kubernetes.port),
        ...environment(),
      });
      const place = { appId: 'shop', versionId: 'v1' };
      await createdSystem(app, place, { resourceName: 'everything', payload: { baseUrl: mcp.url } });
    });
    afterAll(async () => {
      await app.close();
      await Promise.all([...components.map((each) => each.end()), dns.server?.stop(), kubernetes.close()]);
      await rm(folder, { recursive: true });
    });

    /** Returns a configuration file with all components that no other source finds. */
    function configuration(): string {
      const heard = ['database', 'dnsService', 'legacyDb'];
      const declared = components.filter((each) => each.declared !== undefined && !heard.includes(each.key));
      return JSON.stringify({
        platform: { components: declared.map(({ key, declared: rest }) => ({ key, ...rest })) },
      });
    }

    function environment(): Record<string, string> {
      return legacy === undefined ? {} : { PLATFORM_INFRA_LEGACY_DB: legacy.url.replace(/\/$/, '') };
    }

    async function scan(): Promise<DiscoveryResult> {
      const { status, body } = await app.request<DiscoveryResult>('GET', PATH);
      expect(status).toBe(200);
      return body;
    }

    function shownOf(body: DiscoveryResult, { map, key }: RealComponent): ShownComponent {
      const entries = Object.entries<ShownComponent>(body[map]);
      const found = entries.find(([name]) => name === key || (key.endsWith('-') && name.startsWith(key)));
      return found?.[1] ?? { status: 'absent' };
    }

    it('reports the same for each component as its own client', async () => {
      await vi.waitFor(async () => {
        const body = await scan();
        for (const each of components) {
          const shown = shownOf(body, each);
          expect({ key: each.key, ...shown }).toMatchObject({
            key: each.key,
            status: 'healthy',
            ...(await each.truth(shown)),
          });
        }
        const services = Object.values(body.services);
        const healthy = services.filter(({ status }) => status === 'healthy').length;
        expect(body).toMatchObject({
          totalServices: services.length,
          healthyServices: healthy,
          unhealthyServices: services.length - healthy,
        });
        expect(body.externalIntegrations['singleSignOn']?.status).toBe('healthy');
      }, PATIENCE);
    });

    it('lists the same services as the Kubernetes API server, and reports when it is unavailable and back', async () => {
      const listed = async (): Promise<string[]> => {
        const address = `https://127.0.0.1:${kubernetes.port}/api/v1/namespaces/prod/services`;
        const { items } = await curlJson<{ items: { metadata: { name: string } }[] }>(
          '--cacert',
          join(folder, 'ca.crt'),
          '--header',
          `authorization: Bearer ${kubernetes.token}`,
          `${address}?labelSelector=svc.platform/component%3Dtrue&limit=100`,
        );
        return items.map(({ metadata }) => metadata.name).toSorted();
      };
      const shown = (body: DiscoveryResult) =>
        Object.entries(body.services)
          .filter(([, { endpoint }]) => endpoint.includes('.prod.svc'))
          .map(([key]) => key);
      const names = await listed();
      expect(names).toEqual(['gateway', 'web']);
      expect(shown(await scan())).toEqual(names);
      await kubernetes.close();
      const without = await scan();
      expect(shown(without)).toEqual(names);
      expect(failedSources(without)).toEqual(['kubernetes']);
      await kubernetes.reopen();
      expect(failedSources(await scan())).toEqual([]);
    });

    it.skipIf(dns.missing)('reports when the name server is unavailable and back', async () => {
      await dns.server!.stop();
      const without = await scan();
      expect(failedSources(without)).toEqual(['dns']);
      expect(without.services['dnsService']?.status).toBe('healthy');
      dns.server = await startDns();
      expect(failedSources(await scan())).toEqual([]);
    });

    it.each(components.filter(({ key }) => key !== 'database').map((each) => [each.key, each] as const))(
      'reports that %s is down and why, then that it is back, while all others stay healthy',
      async (_key, each) => {
        const others = components.filter((other) => other !== each);
        const unhealthy = (body: DiscoveryResult) =>
          others.filter((other) => shownOf(body, other).status !== 'healthy').map(({ key }) => key);
        await each.stop();
        const gone = await scan();
        const shown = shownOf(gone, each);
        expect(shown.status).toBe('unhealthy');
        expect([PROBE_FAILURES.refused, PROBE_FAILURES.network]).toContain(shown.error);
        expect(gone.summary.recommendations.some((text) => text.includes(`.${each.key}`))).toBe(true);
        await each.start();
        await vi.waitFor(async () => {
          const back = await scan();
          const again = shownOf(back, each);
          expect(again).toMatchObject({ status: 'healthy', ...(await each.truth(again)) });
          expect(unhealthy(back)).toEqual([]);
        }, PATIENCE);
      },
    );

    it('returns 500 while its own database is down, and 200 when it is back', async () => {
      const database = components.find(({ key }) => key === 'database')!;
      await database.stop();
      const { status, body } = await app.request('GET', PATH);
      expect({ status, body }).toMatchObject({
        status: 500,
        body: { error: 'Internal Server Error', status: 500 },
      });
      await database.start();
      await vi.waitFor(async () => {
        expect(shownOf(await scan(), database).status).toBe('healthy');
      }, PATIENCE);
    });
  },
);

function failedSources({ summary }: DiscoveryResult): string[] {
  return summary.recommendations.flatMap(
    (text) => /^Source (\w+): .* until then the components that it last listed/.exec(text)?.[1] ?? [],
  );
}
