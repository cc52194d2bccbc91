import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { scratchDatabase } from '../../test/support/databases/start-databases.js';
import { FaultSite } from './support/fault-site.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import { rows } from './support/rows.js';
import { SmallDisk, fill, free, smallServer } from './support/small-storage.js';

const LONGEST_BACK_MS = 2_000;
/** Where others work on the same cores, as in a short round. */
const SHARED_MACHINE_BACK_MS = 60_000;
/** A killed server recovers its data first. */
const LONGEST_RECOVERY_MS = 10_000;
/** How long a database may find room in what it has. */
const FULL_MS = 60_000;
/** From the first write that found no room. */
const NOT_READY_MS = 5_000;
const START_AWAY_MS = 3_000;
const APP_USER = 'faults_app';
const SETTINGS = {
  'jobLimits.retryBaseMs': '100',
  'jobLimits.retryMaxMs': '2000',
  'processLimits.cleanupSeconds': '1',
  'databaseLimits.lockWaitSeconds': '1',
  'jobLimits.leaseMs': '1000',
};

export const proof: Proof = {
  name: 'faults',
  claim:
    'faults of the database and full disks lose and double nothing, end no schedule, and readiness says what a write finds',
  databases: ['embedded', 'mariadb', 'mysql'],
  shortDatabases: ['embedded', 'mysql'],
  needsOwnServer: true,
  async run(environment) {
    const { kind } = environment;
    if (kind === 'embedded') {
      return proveSmallDisk(environment);
    }
    const single = await proveSingle(environment);
    return kind === 'mysql' ? [single, await proveSmallServer(environment)].join('; ') : single;
  },
};

async function proveSingle(environment: ProofEnvironment): Promise<string> {
  const { short, server } = environment;
  if (server === undefined) {
    throw new Error('a server is needed');
  }
  const database = await environment.emptyDatabase();
  const site = await open(environment, database, await appUrl(database), {
    'databaseLimits.silenceMs': '2000',
  });
  await site.fault('read-only', longestBack(short), async () => {
    await rows(server.url, 'SET GLOBAL read_only = ON');
    await sleep(lasting(site, short));
    await rows(server.url, 'SET GLOBAL read_only = OFF');
  });
  await site.fault('silent', longestBack(short), () => stopForAWhile(server.url, lasting(site, short)));
  site.load.watch(false);
  site.load.allowFailures(true);
  await site.fault('table away', longestBack(short) * 2, async () => {
    for (const table of ['process_repeats', 'process_events']) {
      await rows(database, `ALTER TABLE ${table} RENAME TO ${table}_away`);
    }
    await sleep(short ? 5_000 : 60_000);
    for (const table of ['process_repeats', 'process_events']) {
      await rows(database, `ALTER TABLE ${table}_away RENAME TO ${table}`);
    }
  });
  site.load.watch(true);
  site.load.allowFailures(false);
  await site.fault('killed', Math.max(LONGEST_RECOVERY_MS, longestBack(short)), async () => {
    await server.kill('SIGKILL');
    await sleep(lasting(site, short));
    await server.restart();
  });
  const figures = await site.finish();
  await startWithout(environment, database);
  return `single server: ${figures}; a replica that started without it waited`;
}

/** The embedded file on a disk that is full for a while. */
async function proveSmallDisk(environment: ProofEnvironment): Promise<string> {
  const disk = await SmallDisk.at(join(environment.folder, 'small-disk'));
  if (disk === undefined) {
    return 'disk full skipped: this host lets us make no small file system (unshare, mount)';
  }
  const service = await environment.startService(disk.databaseUrl, SETTINGS, disk.command);
  const database = (): Promise<string> => disk.copyOf(service.pid);
  const site = await FaultSite.open(service, database, environment);
  for (let round = 0; round < (environment.short ? 1 : 10); round += 1) {
    await site.fault('disk full', longestBack(environment.short), async () => {
      // While a disk fills, small writes still find room where larger ones do not.
      site.load.watch(false);
      await disk.fill(service.pid);
      await site.load.refusedAfter(performance.now(), FULL_MS);
      await site.load.notReadyWithin(NOT_READY_MS);
      site.load.watch(true);
      await sleep(lasting(site, environment.short));
      await disk.free(service.pid);
    });
  }
  proveRefused(site);
  prove(site.load.looked.notReady > 0, 'the service was ready on a full disk');
  return `small disk: ${await site.finish()}`;
}

/** A server whose tables find no more room. What needs none is stored all the same, so readiness is not looked at. */
async function proveSmallServer(environment: ProofEnvironment): Promise<string> {
  const server = await smallServer();
  try {
    await scratchDatabase(server.url, 'svc_full');
    const database = `${server.url}svc_full`;
    const site = await open(environment, database, database, {});
    site.load.watch(false);
    await site.fault('tables full', longestBack(environment.short), async () => {
      await fill(database);
      await site.load.refusedAfter(performance.now(), FULL_MS);
      await sleep(lasting(site, environment.short));
      await free(database);
    });
    proveRefused(site);
    site.load.watch(true);
    return `small server: ${await site.finish()}`;
  } finally {
    await server.stop();
  }
}

async function open(
  environment: ProofEnvironment,
  database: string,
  serviceUrl: string,
  settings: Record<string, string>,
): Promise<FaultSite> {
  const service = await environment.startService(serviceUrl, { ...SETTINGS, ...settings });
  return FaultSite.open(service, async () => database, environment);
}

/** How long a fault lasts: longer than what a look at readiness may know of the time before it. */
function lasting({ load }: FaultSite, short: boolean): number {
  return Math.max(load.leastFaultMs, short ? 0 : 15_000);
}

function longestBack(short: boolean): number {
  return short ? SHARED_MACHINE_BACK_MS : LONGEST_BACK_MS;
}

function proveRefused({ load: { statuses } }: FaultSite): void {
  prove((statuses.get(503) ?? 0) > 0, 'nothing was refused');
  prove(!statuses.has(500), `a full disk was told as 500, ${statuses.get(500)} times`);
}

/** Read-only holds for those without rights of an administrator. */
async function appUrl(database: string): Promise<string> {
  const url = new URL(database);
  const account = `'${APP_USER}'@'127.0.0.1'`;
  await rows(database, `CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '${APP_USER}'`);
  await rows(database, `GRANT ALL PRIVILEGES ON ${url.pathname.slice(1)}.* TO ${account}`);
  url.username = APP_USER;
  url.password = APP_USER;
  return url.href;
}

async function stopForAWhile(serverUrl: string, ms: number): Promise<void> {
  const [row] = await rows(serverUrl, 'SELECT @@pid_file AS path');
  const pid = Number(await readFile(String(row?.['path']), 'utf8'));
  process.kill(pid, 'SIGSTOP');
  try {
    await sleep(ms);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

/** A replica that is started while the server is away waits for it. */
async function startWithout(environment: ProofEnvironment, database: string): Promise<void> {
  const { server } = environment;
  await server?.kill('SIGKILL');
  const service = await environment.launchService(database, SETTINGS);
  await sleep(START_AWAY_MS);
  prove(!service.hasEnded, 'a replica that started without the database did not wait for it');
  await server?.restart();
  await service.ready();
}
