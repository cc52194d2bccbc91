import { setTimeout as sleep } from 'node:timers/promises';
import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise';
import type { ProofEnvironment } from '../../proofs/support/proof-environment.js';
import { quantiles } from '../callers.js';
import { cpuMicros } from '../processor.js';
import { startServer, type ServerProcess } from '../server-process.js';
import { countQuestions } from '../statements.js';
import { figure, printTable } from '../table.js';

const SECOND_MS = 1_000;
const POLL_MS = 20;
const GIVE_UP_MS = 120_000;
/** Interval at which the jobs whose delay is measured become due. */
const PACE_MS = 10;
/** Time after which every replica is idle. */
const SETTLE_MS = 4_000;
const LEAD_MS = 2_000;
const TABLES = [
  'CREATE TABLE bench_jobs (id BIGINT PRIMARY KEY, due DATETIME(3) NOT NULL, ended_at DATETIME(3) NULL)',
  'CREATE TABLE bench_events (job_id BIGINT PRIMARY KEY, at DATETIME(3) NOT NULL)',
];

/** Extent of the measurement. */
export interface ScaleOptions {
  serverUrl: string;
  /** Numbers of replicas to measure. */
  replicas: readonly number[];
  /** Jobs that become due at the same time. */
  jobs: number;
  /** Jobs that become due one after another. */
  paced: number;
  idleSeconds: number;
}

/** Replicas on one database, with direct access to that database. */
interface Site {
  servers: readonly ServerProcess[];
  pool: Pool;
  serverUrl: string;
}

/** Measures background jobs on 1, 2 and 4 replicas. Prints figures without judging them. */
export async function benchScale(environment: ProofEnvironment, options: ScaleOptions): Promise<void> {
  const rows: string[][] = [];
  for (const count of options.replicas) {
    rows.push([`${count} replicas`, ...(await measure(environment, options, count))]);
  }
  printTable(
    `${options.jobs} jobs due at the same time, then ${options.paced} due at intervals of ${PACE_MS} ms; each updates a row and inserts one; ` +
      'statements are all statements sent to the database per job, including COMMIT',
    ['', 'jobs/s', 'statements', 'late p50 ms', 'late p99 ms', 'idle stmt/s', 'idle CPU %'],
    rows,
  );
}

async function measure(
  environment: ProofEnvironment,
  { serverUrl, jobs, paced, idleSeconds }: ScaleOptions,
  count: number,
): Promise<string[]> {
  const databaseUrl = await environment.emptyDatabase();
  const servers: ServerProcess[] = [];
  const pool = createPool({
    uri: databaseUrl.replace(/^mariadb:/, 'mysql:'),
    connectionLimit: 1,
    timezone: 'Z',
  });
  try {
    for (const table of TABLES) {
      await pool.query(table);
    }
    for (let index = 0; index < count; index += 1) {
      servers.push(await startServer('job-replica', { DATABASE_URL: databaseUrl, LOG_LEVEL: 'error' }));
    }
    const site: Site = { servers, pool, serverUrl };
    await storm(site, { count: jobs / 4, everyMs: 0 });
    const full = await storm(site, { count: jobs, everyMs: 0 });
    const late = await storm(site, { count: paced, everyMs: PACE_MS });
    const idle = await measureIdle(site, idleSeconds);
    return [
      figure(full.perSecond),
      figure(full.statements, 1),
      figure(late.p50, 1),
      figure(late.p99, 1),
      figure(idle.statements, 2),
      figure(idle.cpu, 2),
    ];
  } finally {
    servers.forEach((server) => server.stop());
    await pool.end();
  }
}

/** Has one replica add jobs, and waits until all of them have ended. */
async function storm(
  { servers, pool, serverUrl }: Site,
  request: { count: number; everyMs: number },
): Promise<{ perSecond: number; statements: number; p50: number; p99: number }> {
  await pool.query('DELETE FROM bench_jobs');
  const begin = Date.now() + LEAD_MS + request.count;
  await servers[0]?.ask({ ...request, begin });
  if (Date.now() >= begin) {
    throw new Error('The jobs became due before all of them were added.');
  }
  await sleep(begin - Date.now());
  const before = await countQuestions(serverUrl);
  const polls = await untilEnded(pool, request.count);
  // Excludes statements of the measurement itself.
  const statements = (await countQuestions(serverUrl)) - before - polls - 1;
  const [rows] = await pool.query<RowDataPacket[]>('SELECT due, ended_at AS endedAt FROM bench_jobs');
  const times = rows.map(
    ({ due, endedAt }) => [(due as Date).getTime(), (endedAt as Date).getTime()] as const,
  );
  const seconds = (Math.max(...times.map(([, at]) => at)) - begin) / SECOND_MS;
  return {
    perSecond: request.count / seconds,
    statements: statements / request.count,
    ...quantiles(times.map(([due, at]) => at - due)),
  };
}

/** Measures the statements and processor time of an idle replica. */
async function measureIdle(
  { servers, serverUrl }: Site,
  seconds: number,
): Promise<{ statements: number; cpu: number }> {
  await sleep(SETTLE_MS);
  const used = (): number => servers.reduce((sum, { pid }) => sum + cpuMicros(pid), 0);
  const before = { statements: await countQuestions(serverUrl), cpu: used() };
  await sleep(seconds * SECOND_MS);
  const statements = (await countQuestions(serverUrl)) - before.statements - 1;
  return {
    statements: statements / seconds / servers.length,
    cpu: ((used() - before.cpu) / (seconds * SECOND_MS * 1_000) / servers.length) * 100,
  };
}

/**
 * Waits until all jobs have ended.
 * @returns the number of queries used for polling
 */
async function untilEnded(pool: Pool, count: number): Promise<number> {
  for (let polls = 1, deadline = Date.now() + GIVE_UP_MS; ; polls += 1) {
    const [rows] = await pool.query<RowDataPacket[]>(
      'SELECT COUNT(*) AS ended FROM bench_jobs WHERE ended_at IS NOT NULL',
    );
    if (Number(rows[0]?.['ended']) === count) {
      return polls;
    }
    if (Date.now() > deadline) {
      throw new Error(`${count - Number(rows[0]?.['ended'])} jobs have not ended.`);
    }
    await sleep(POLL_MS);
  }
}
