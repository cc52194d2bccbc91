import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DiscoveryResult } from '../../src/discovery/model/scan.types.js';
import { freePort } from '../../test/support/databases/process-resources.js';
import { startDatabases } from '../../test/support/databases/start-databases.js';
import { tryStart } from '../../test/support/databases/local-server.js';
import {
  startKafkaMock,
  startNats,
  startPostgresql,
  startRedis,
} from '../../test/support/discovery/servers.js';
import { ApiClient } from './support/api-client.js';
import type { DeclaredPeer } from './support/platform-peers.process.js';
import { forkHelper, nextMessage } from './support/helper-process.js';
import { ProcessInspector } from './support/process-inspector.js';
import { prove, type Proof } from './support/proof.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import type { ServiceProcess } from './support/service-process.js';

const PATH = '/api/platform/discover';
const DEADLINE_MS = 300;
const CONCURRENCY = 64;
const BLACK_HOLES = 200;
const HOLE_MS = 1_000;
/** Time that a scan may take beyond its deadlines to merge, compare and store. */
const SLACK_MS = 500;
/** Same for short runs, which share the processors with other proofs. */
const SHARED_MACHINE_SLACK_MS = 60_000;
/** Probe timeout for healthy components, which must be found healthy on a busy machine too. */
const HEALTHY_TIMEOUT_MS = 30_000;
/**
 * Tolerated additional handles, such as connections to the token issuer. One leak per scan exceeds it even in a short run.
 */
const TOLERATED_HANDLES = 10;
/** Scans until everything that remains in memory is compiled, loaded and cached. */
const WARM_UP = 10;
const SHORT_WARM_UP = 5;
const SETTLE_MS = 10_000;
const MEGABYTE = 1_048_576;
const HEAP_BYTES = 20 * MEGABYTE;

export const proof: Proof = {
  name: 'rescan-soak',
  claim: 'scans of hostile and healthy components end in time and leak no socket, handle or memory',
  databases: ['embedded'],
  takesLong: true,
  async run(environment) {
    const platform = await Platform.start(environment);
    try {
      return await soak(environment, platform);
    } finally {
      await platform.stop();
    }
  },
};

async function soak(environment: ProofEnvironment, platform: Platform): Promise<string> {
  const file = join(environment.folder, 'platform.json');
  const inspectorPort = await freePort();
  const service = await environment.startService(await environment.emptyDatabase(), {
    NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}`,
    EGRESS_ALLOW: '127.0.0.1',
    DISCOVERY_CONFIG_FILE: file,
    'discoveryLimits.concurrency': String(CONCURRENCY),
    'discoveryLimits.probeTimeoutMs': String(DEADLINE_MS),
    'discoveryLimits.scanTimeoutMs': '60000',
    'discoveryLimits.scansKept': '10',
    'discoveryLimits.changesKept': '1000',
    'httpLimits.rescansPerMinute': '0',
  });
  const caller = new Caller(service, await environment.token());
  await declare(file, platform.components);
  await caller.register(platform);
  for (let count = 0; count < (environment.short ? SHORT_WARM_UP : WARM_UP); count += 1) {
    platform.expect(await caller.scan());
  }
  const inspector = await ProcessInspector.connect(inspectorPort);
  const measure = async () => ({ ...(await inspector.resources()), files: openFiles(service) });
  await platform.expectNoSockets();
  const before = await measure();
  const scans = environment.short ? 12 : 100;
  const start = performance.now();
  for (let count = 0; count < scans; count += 1) {
    platform.expect(await caller.scan());
  }
  const seconds = (performance.now() - start) / 1_000;
  await platform.expectNoSockets();
  const after = await waitUntilSettled(measure, before);
  prove(after.handles <= before.handles + TOLERATED_HANDLES, `${before.kinds} became ${after.kinds}`);
  prove(after.files <= before.files + TOLERATED_HANDLES, `${before.files} open files became ${after.files}`);
  const grown = after.heapBytes - before.heapBytes;
  prove(grown < HEAP_BYTES, `the heap grew by ${(grown / MEGABYTE).toFixed(1)} MB`);
  const holes = await blackHoles(environment, { caller, file, platform });
  const { outputTail } = service;
  prove(!/canary/i.test(outputTail), 'the log contains a credential');
  inspector.close();
  await caller.close();
  return (
    `${scans} scans of ${platform.components.length} components in ${seconds.toFixed(0)} s; 0 sockets, ` +
    `${after.handles - before.handles} handles, ${after.files - before.files} files, ` +
    `${(grown / MEGABYTE).toFixed(1)} MB more; ${BLACK_HOLES} black holes in ${holes} ms`
  );
}

/**
 * Waits until handles and files are back at their previous number, since timers of pools and kept-alive connections may
 * still run. Leaks remain.
 */
async function waitUntilSettled<T extends { handles: number; files: number }>(
  measure: () => Promise<T>,
  before: T,
): Promise<T> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const now = await measure();
    if ((now.handles <= before.handles && now.files <= before.files) || performance.now() > deadline) {
      return now;
    }
    await sleep(500);
  }
}

async function blackHoles(
  { short }: ProofEnvironment,
  { caller, file, platform }: { caller: Caller; file: string; platform: Platform },
): Promise<number> {
  const silent = platform.components.filter(({ key }) => /^bad-.*-silent$/.test(key));
  const holes = Array.from({ length: BLACK_HOLES }, (_, index) => ({
    ...(silent[index % silent.length] as DeclaredPeer),
    key: `hole-${index}`,
    timeoutMs: HOLE_MS,
  }));
  await declare(file, holes);
  const body = await caller.scan();
  const found = Object.entries({ ...body.services, ...body.infrastructure, ...body.externalIntegrations });
  const unhealthy = found.filter(([key, { status }]) => key.startsWith('hole-') && status === 'unhealthy');
  prove(unhealthy.length === BLACK_HOLES, `only ${unhealthy.length} of ${BLACK_HOLES} are unhealthy`);
  const tookMs = await caller.lastDuration();
  const limit =
    Math.ceil(found.length / CONCURRENCY) * HOLE_MS + (short ? SHARED_MACHINE_SLACK_MS : SLACK_MS);
  prove(tookMs <= limit, `${BLACK_HOLES} black holes took ${tookMs} ms, not ${limit}`);
  await platform.expectNoSockets();
  return tookMs;
}

async function declare(file: string, components: readonly DeclaredPeer[]): Promise<void> {
  await writeFile(file, JSON.stringify({ platform: { components } }));
}

function openFiles({ pid }: ServiceProcess): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** The caller that requests scans. */
class Caller {
  private readonly client: ApiClient;

  constructor(service: ServiceProcess, token: string) {
    this.client = new ApiClient(service.url, token, { connections: 1 });
  }

  async scan(): Promise<DiscoveryResult> {
    const { status, body } = await this.client.send('GET', PATH);
    prove(status === 200, `HTTP ${status}`);
    prove(
      !/canary/i.test(JSON.stringify(body).replaceAll(/"bad-[a-z0-9-]+"/g, '')),
      'the response contains a credential',
    );
    return body as unknown as DiscoveryResult;
  }

  async lastDuration(): Promise<number> {
    const { body } = await this.client.send('GET', `${PATH}/scans?limit=1`);
    return (body['scans'] as { durationMs: number }[])[0]?.durationMs ?? Number.NaN;
  }

  /** Registers the MCP servers of the platform through the API. */
  async register({ components }: Platform): Promise<void> {
    for (const { key, endpoint } of components.filter(({ kind }) => kind === 'mcp')) {
      await this.client.create(key, { baseUrl: endpoint });
    }
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** Hostile and healthy peers, and the real servers available on this machine. */
class Platform {
  private constructor(
    private readonly child: ReturnType<typeof forkHelper>,
    readonly components: DeclaredPeer[],
    private readonly servers: { stop(): Promise<void> }[],
  ) {}

  static async start({ short }: ProofEnvironment): Promise<Platform> {
    const child = forkHelper('platform-peers.process.ts');
    // Low priority, so that the peers do not compete with the service for the processors. In short runs, which share the
    // machine with other proofs, they would starve.
    if (!short) {
      setPriority(child.pid ?? 0, constants.priority.PRIORITY_LOW);
    }
    const [peers, redis, nats, kafka, postgresql, sql] = await Promise.all([
      nextMessage(child) as Promise<DeclaredPeer[]>,
      tryStart(() => startRedis()),
      tryStart(() => startNats()),
      tryStart(() => startKafkaMock('one')),
      tryStart(startPostgresql),
      startDatabases(['mariadb'], { fast: true }),
    ]);
    const probe = { username: 'probe', password: 'canary-probe' };
    const real = [
      { key: 'good-redis', kind: 'redis', endpoint: redis.server?.endpoint, ...probe },
      { key: 'good-nats', kind: 'nats', endpoint: nats.server?.endpoint },
      {
        key: 'good-kafka',
        kind: 'kafka',
        endpoint: kafka.server && `kafka://${kafka.server.brokers.join()}`,
      },
      { key: 'good-postgresql', kind: 'postgresql', endpoint: postgresql.server?.endpoint, ...probe },
      { key: 'good-mariadb', kind: 'mysql', endpoint: sql.databases[0]?.url },
    ].filter((each): each is DeclaredPeer => each.endpoint !== undefined);
    const patient = [...peers, ...real].map((each) =>
      each.key.startsWith('good-') ? { ...each, timeoutMs: HEALTHY_TIMEOUT_MS } : each,
    );
    const servers = [redis, nats, kafka, postgresql].flatMap(({ server }) => (server ? [server.server] : []));
    return new Platform(child, patient, [...servers, ...sql.databases]);
  }

  /** Proves that each component has the expected status. */
  expect({ services, infrastructure, externalIntegrations }: DiscoveryResult): void {
    const found: Record<string, { status: string; error?: string }> = {
      ...services,
      ...infrastructure,
      ...externalIntegrations,
    };
    for (const { key } of this.components) {
      const entry = found[key];
      const isRight = entry?.status === (key.startsWith('good-') ? 'healthy' : 'unhealthy');
      prove(isRight, `${key}: ${JSON.stringify(entry)}`);
    }
  }

  /** Proves that the service has closed all connections. The peers never close one themselves. */
  async expectNoSockets(): Promise<void> {
    const deadline = performance.now() + SETTLE_MS;
    for (let open = Number.NaN; open !== 0;) {
      this.child.send('count');
      open = (await nextMessage(this.child)) as number;
      prove(open === 0 || performance.now() < deadline, `${open} sockets are still open`);
      await sleep(50);
    }
  }

  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}
