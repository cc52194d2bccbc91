import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { scratchDatabase } from '../../test/support/databases/start-databases.js';
import { FaultSite } from './support/fault-site.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import { rows } from './support/rows.js';
import { SmallDisk, fill, free, smallServer } from './support/small-storage.js';

const MAX_RESUME_MS = 2_000;
/** Same for short runs, which share the processors with other proofs. */
const SHARED_MACHINE_BACK_MS = 60_000;
/** Limit after a kill, since the server first recovers its data. */
const MAX_RECOVERY_MS = 10_000;
/** Time within which writes to a full database must start to fail. */
const FULL_MS = 60_000;
/** Time from the first failed write until readiness must report it. */
const NOT_READY_MS = 5_000;
const START_WITHOUT_DATABASE_MS = 3_000;
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
    'database faults and full disks lose and duplicate nothing and end no schedule, and readiness reflects whether writes work',
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
    throw new Error('requires a server');
  }
  const database = await environment.emptyDatabase();
  const site = await open(environment, database, await appUrl(database), {
    'databaseLimits.silenceMs': '2000',
  });
  await site.fault('read-only', longestBack(short), async () => {
    await rows(server.url, 'SET GLOBAL read_only = ON');
    await sleep(faultDuration(site, short));
    await rows(server.url, 'SET GLOBAL read_only = OFF');
  });
  await site.fault('silent', longestBack(short), () => suspendServer(server.url, faultDuration(site, short)));
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
  await site.fault('killed', Math.max(MAX_RECOVERY_MS, longestBack(short)), async () => {
    await server.kill('SIGKILL');
    await sleep(faultDuration(site, short));
    await server.restart();
  });
  const figures = await site.finish();
  await startWithout(environment, database);
  return `single server: ${figures}; a replica started without the database waited for it`;
}

/** Proves the embedded database on a disk that is temporarily full. */
async function proveSmallDisk(environment: ProofEnvironment): Promise<string> {
  const disk = await SmallDisk.at(join(environment.folder, 'small-disk'));
  if (disk === undefined) {
    return 'disk full skipped: this host does not permit creating a small file system (unshare, mount)';
  }
  const service = await environment.startService(disk.databaseUrl, SETTINGS, disk.command);
  const database = (): Promise<string> => disk.copyOf(service.pid);
  const site = await FaultSite.open(service, database, environment);
  for (let round = 0; round < (environment.short ? 1 : 10); round += 1) {
    await site.fault('disk full', longestBack(environment.short), async () => {
      // While the disk fills up, small writes still succeed after larger ones fail.
      site.load.watch(false);
      await disk.fill(service.pid);
      await site.load.untilNextRejection(performance.now(), FULL_MS);
      await site.load.notReadyWithin(NOT_READY_MS);
      site.load.watch(true);
      await sleep(faultDuration(site, environment.short));
      await disk.free(service.pid);
    });
  }
  proveRefused(site);
  prove(site.load.readinessChecks.notReady > 0, 'the service reported ready on a full disk');
  return `small disk: ${await site.finish()}`;
}

/** Proves a server whose tables are full. Writes that need no space still succeed, so readiness is not checked. */
async function proveSmallServer(environment: ProofEnvironment): Promise<string> {
  const server = await smallServer();
  try {
    await scratchDatabase(server.url, 'svc_full');
    const database = `${server.url}svc_full`;
    const site = await open(environment, database, database, {});
    site.load.watch(false);
    await site.fault('tables full', longestBack(environment.short), async () => {
      await fill(database);
      await site.load.untilNextRejection(performance.now(), FULL_MS);
      await sleep(faultDuration(site, environment.short));
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

/** Returns the duration of a fault, longer than the maximum age of a readiness result. */
function faultDuration({ load }: FaultSite, short: boolean): number {
  return Math.max(load.leastFaultMs, short ? 0 : 15_000);
}

function longestBack(short: boolean): number {
  return short ? SHARED_MACHINE_BACK_MS : MAX_RESUME_MS;
}

function proveRefused({ load: { statuses } }: FaultSite): void {
  prove((statuses.get(503) ?? 0) > 0, 'nothing was rejected');
  prove(!statuses.has(500), `a full disk caused ${statuses.get(500)} responses with status 500`);
}

/** Returns the URL with an unprivileged account, since read-only mode does not apply to administrators. */
async function appUrl(database: string): Promise<string> {
  const url = new URL(database);
  const account = `'${APP_USER}'@'127.0.0.1'`;
  await rows(database, `CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '${APP_USER}'`);
  await rows(database, `GRANT ALL PRIVILEGES ON ${url.pathname.slice(1)}.* TO ${account}`);
  url.username = APP_USER;
  url.password = APP_USER;
  return url.href;
}

async function suspendServer(serverUrl: string, ms: number): Promise<void> {
  const [row] = await rows(serverUrl, 'SELECT @@pid_file AS path');
  const pid = Number(await readFile(String(row?.['path']), 'utf8'));
  process.kill(pid, 'SIGSTOP');
  try {
    await sleep(ms);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

/** Proves that a replica started while the server is down waits for it. */
async function startWithout(environment: ProofEnvironment, database: string): Promise<void> {
  const { server } = environment;
  await server?.kill('SIGKILL');
  const service = await environment.launchService(database, SETTINGS);
  await sleep(START_WITHOUT_DATABASE_MS);
  prove(!service.hasEnded, 'a replica that started without the database did not wait for it');
  await server?.restart();
  await service.ready();
}
