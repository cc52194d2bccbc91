import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { scratchDatabase } from '../support/databases/scratch-database.js';
import { MysqlGroup } from './support/mysql-group.js';
import { entries } from './support/process-checks.js';
import { ProcessClient } from './support/process-client.js';
import { APPROVAL, TICKER } from './support/process-models.js';
import { ProcessRows } from './support/process-rows.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import { rows } from './support/rows.js';
import type { ServiceProcess } from './support/service-process.js';
import { SteadyOrders } from './support/steady-orders.js';

const QUIET_MS = 1_500;
const LONGEST_BACK_MS = 2_000;
/** A killed server recovers its data first. */
const LONGEST_RECOVERY_MS = 10_000;
const DOWN_MS = 1_500;
const SCHEDULES_MS = 15_000;
const APP_USER = 'faults_app';
const SETTINGS = {
  JOBS_RETRY_BASE_MS: '100',
  JOBS_RETRY_MAX_MS: '2000',
  PROCESS_CLEANUP_SECONDS: '1',
  DATABASE_LOCK_WAIT_SECONDS: '1',
  JOBS_LEASE_MS: '1000',
};

/** What is measured at one database address. */
interface Site {
  service: ServiceProcess;
  client: ProcessClient;
  load: SteadyOrders;
  /** Longest time from the end of a fault to the first write, by fault. */
  back: Map<string, number>;
}

export const proof: Proof = {
  name: 'faults',
  claim:
    'faults of the database and switch-overs lose and double nothing, end no schedule, and readiness says what a write finds',
  databases: ['mariadb', 'mysql'],
  needsOwnServer: true,
  async run(environment) {
    const single = await proveSingle(environment);
    return environment.kind === 'mysql' ? `${single}; ${await proveGroup(environment)}` : single;
  },
};

async function proveSingle(environment: ProofEnvironment): Promise<string> {
  const { short, server } = environment;
  if (server === undefined) {
    throw new Error('a server is needed');
  }
  const database = await environment.emptyDatabase();
  const site = await open(environment, database, await appUrl(database), { DATABASE_SILENCE_MS: '2000' });
  site.load.begin();
  await fault(site, 'read-only', LONGEST_BACK_MS, async () => {
    await rows(server.url, 'SET GLOBAL read_only = ON');
    await sleep(short ? 3_000 : 15_000);
    await rows(server.url, 'SET GLOBAL read_only = OFF');
  });
  await fault(site, 'silent', LONGEST_BACK_MS, () => stopForAWhile(server.url, short ? 4_000 : 15_000));
  site.load.watch(false);
  await fault(site, 'table away', LONGEST_BACK_MS * 2, async () => {
    for (const table of ['process_repeats', 'process_events']) {
      await rows(database, `ALTER TABLE ${table} RENAME TO ${table}_away`);
    }
    await sleep(short ? 5_000 : 60_000);
    for (const table of ['process_repeats', 'process_events']) {
      await rows(database, `ALTER TABLE ${table}_away RENAME TO ${table}`);
    }
  });
  site.load.watch(true);
  await fault(site, 'killed', LONGEST_RECOVERY_MS, async () => {
    await server.kill('SIGKILL');
    await sleep(DOWN_MS);
    await server.restart();
  });
  const figures = await finish(site, database);
  await startWithout(environment, database);
  return `single server: ${figures}; a replica that started without it waited`;
}

async function proveGroup(environment: ProofEnvironment): Promise<string> {
  const plugin = await MysqlGroup.pluginFolder();
  if (plugin === undefined) {
    return 'group skipped: the MySQL of this host has no plugin group_replication';
  }
  const group = await MysqlGroup.start(plugin);
  try {
    await scratchDatabase(group.url, 'svc_group');
    const database = `${group.url}svc_group`;
    const site = await open(environment, database, database, {});
    site.load.begin();
    for (let round = 0; round < (environment.short ? 2 : 10); round += 1) {
      await fault(site, 'switch-over', LONGEST_BACK_MS, () => group.switchOver());
    }
    await fault(site, 'primary killed', LONGEST_BACK_MS, () => group.killPrimary());
    return `group of three: ${await finish(site, `${group.primaryUrl}svc_group`)}`;
  } finally {
    await group.stop();
  }
}

async function open(
  environment: ProofEnvironment,
  database: string,
  serviceUrl: string,
  settings: Record<string, string>,
): Promise<Site> {
  const service = await environment.startService(serviceUrl, { ...SETTINGS, ...settings });
  const client = new ProcessClient(service.url, await environment.token());
  const build = await client.publish({ approval: APPROVAL, ticker: TICKER });
  await client.activate(build);
  const load = new SteadyOrders(client, build, () => service.isReady());
  prove((await schedules(database)).length === 2, 'there are two schedules');
  return { service, client, load, back: new Map() };
}

/** Work under load, a fault, and the time until writes are back after its end. */
async function fault(
  { load, back }: Site,
  name: string,
  limitMs: number,
  make: () => Promise<number | void>,
): Promise<void> {
  await sleep(QUIET_MS);
  const end = (await make()) ?? performance.now();
  const took = await load.backAfter(end, limitMs);
  back.set(name, Math.max(took, back.get(name) ?? 0));
}

async function finish({ service, client, load, back }: Site, database: string): Promise<string> {
  await sleep(QUIET_MS * 2);
  await load.end();
  prove(!service.hasEnded, 'the service ended');
  const { untrue, looks } = load.disagreements();
  prove(untrue === 0, `/readyz was untrue in ${untrue} of ${looks} looks`);
  await checkStored(database, load);
  await checkSchedules(database);
  await client.close();
  const times = [...back].map(([name, ms]) => `${name} ${ms.toFixed(0)} ms`).join(', ');
  const answers = [...load.statuses].map(([status, count]) => `${count} x ${status}`).join(', ');
  return (
    `${load.finished.size} orders acknowledged, 0 lost, 0 twice, 0 schedules dead, ${answers}; ` +
    `writes back after ${times}; /readyz true in all of ${looks} looks`
  );
}

async function checkStored(database: string, { finished }: SteadyOrders): Promise<void> {
  const reader = await ProcessRows.open(database);
  const stored = (await reader.instances()).filter(({ row }) => row.processName === 'approval');
  await reader.close();
  const lost = [...finished].filter((uuid) => !stored.some(({ row }) => row.uuid === uuid));
  prove(lost.length === 0, `${lost.length} acknowledged orders are lost`);
  prove(stored.length === finished.size, `${stored.length} orders for ${finished.size} keys`);
  const doubled = stored.filter((each) => entries(each, 'left') !== 1);
  prove(doubled.length === 0, `${doubled.length} orders made their step not once`);
}

/** Both schedules go on, and nothing of what happened is an incident. */
async function checkSchedules(database: string): Promise<void> {
  const before = await schedules(database);
  const deadline = performance.now() + SCHEDULES_MS;
  for (;;) {
    const now = await schedules(database);
    const isNew = ({ id }: { id: number }): boolean => !before.some((each) => each.id === id);
    if (now.filter(isNew).length === 2) {
      break;
    }
    prove(performance.now() < deadline, `schedules do not go on: ${JSON.stringify(now)}`);
    await sleep(100);
  }
  const [row] = await rows(database, 'SELECT COUNT(*) AS incidents FROM process_incidents');
  prove(Number(row?.['incidents']) === 0, 'a failure of the database became an incident');
}

async function schedules(database: string): Promise<{ id: number; kind: string }[]> {
  const found = await rows(
    database,
    "SELECT id, kind FROM runtime_jobs WHERE kind IN ('TIMER_START', 'PROCESS_CLEANUP')",
  );
  return found.map(({ id, kind }) => ({ id: Number(id), kind: String(kind) }));
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
  await sleep(DOWN_MS * 2);
  prove(!service.hasEnded, 'a replica that started without the database did not wait for it');
  await server?.restart();
  await service.ready();
}
