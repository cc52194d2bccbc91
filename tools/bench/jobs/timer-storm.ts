import { setTimeout as sleep } from 'node:timers/promises';
import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise';
import type { ProofEnvironment } from '../../proofs/support/proof-environment.js';
import { quantiles, runCallers } from '../callers.js';
import { timer } from '../processes/models.js';
import { Subject } from '../processes/subject.js';
import { cpuMicros, databasePid } from '../processor.js';
import { MEASURED_SERVICE } from '../service-settings.js';
import { figure, median, printTable } from '../table.js';
import { DelayedJobs } from './delayed-jobs.js';

const CALLERS = 16;
/** Rate of starts, low enough that all have ended when the first timer is due. */
const STARTS_PER_SECOND = 200;
/** Added to the time that all starts take, for machines that do other work too. */
const LEAD_MS = 10_000;
const SECOND_MS = 1_000;
const LOOK_MS = 100;
const GIVE_UP_MS = 120_000;

/** Extent of the measurement. */
export interface TimerBenchOptions {
  serverUrl: string;
  rounds: number;
  /** Timers that become due within one second. */
  timers: number;
}

interface Storm {
  perSecond: number;
  p50: number;
  p99: number;
  cpu: number;
  databaseCpu: number;
  incidents: number;
}

/**
 * Measures many timers that become due within one second, each ending its process, against as many delayed BullMQ jobs.
 * Prints figures without judging them.
 */
export async function benchTimers(
  environment: ProofEnvironment,
  { serverUrl, rounds, timers }: TimerBenchOptions,
): Promise<void> {
  const databaseUrl = await environment.emptyDatabase();
  const service = await environment.startService(databaseUrl, MEASURED_SERVICE);
  const subject = new Subject(service.url, await environment.token(), CALLERS);
  await subject.publish({ timer: timer('timer') });
  const pool = createPool({
    uri: databaseUrl.replace(/^mariadb:/, 'mysql:'),
    connectionLimit: 1,
    timezone: 'Z',
  });
  const server = await databasePid(serverUrl);
  const queue = await DelayedJobs.open(databaseUrl);
  const storms: Storm[] = [];
  const queued: Storm[] = [];
  for (let round = 0; round < rounds; round += 1) {
    storms.push(await storm(subject, pool, { pid: service.pid, server, timers }));
    if (queue !== undefined) {
      queued.push({ ...(await queue.storm(timers, server)), incidents: 0 });
    }
  }
  await queue?.close();
  printTable(
    `${timers} timers due within one second, each ending its process, ${rounds} rounds; ` +
      'late is the time from when a timer is due to its step or transaction; CPU µs is the processor time per timer',
    ['', 'completed/s', 'late p50 ms', 'late p99 ms', 'CPU µs', 'database µs', 'incidents'],
    [rowOf('service', storms), ...(queue === undefined ? [] : [rowOf('BullMQ', queued)])],
  );
  if (queue !== undefined) {
    console.log(
      'Not equivalent: a BullMQ job only updates one row and inserts one in a transaction, without an engine; Redis syncs its file every second, so its jobs are not durable. Processor time of Redis is not counted.',
    );
  }
  await pool.end();
  await subject.close();
}

function rowOf(name: string, storms: readonly Storm[]): string[] {
  const middle = (key: keyof Storm): string => figure(median(storms.map((one) => one[key])));
  const incidents = storms.reduce((sum, one) => sum + one.incidents, 0);
  return [
    name,
    ...(['perSecond', 'p50', 'p99', 'cpu', 'databaseCpu'] as const).map(middle),
    figure(incidents),
  ];
}

async function storm(
  subject: Subject,
  pool: Pool,
  { pid, server, timers }: { pid: number; server: number | undefined; timers: number },
): Promise<Storm> {
  const begin = Date.now() + (timers / STARTS_PER_SECOND) * SECOND_MS + LEAD_MS;
  const dueTimes = new Map<string, number>();
  await runCallers(CALLERS, { count: timers }, async (index) => {
    const due = begin + Math.floor((index * SECOND_MS) / timers);
    const { uuid } = await subject.start('timer', { due: new Date(due).toISOString() });
    dueTimes.set(uuid, due);
  });
  if (Date.now() >= begin) {
    throw new Error('The timers became due before all of them were started.');
  }
  await sleep(begin - Date.now());
  const before = { own: cpuMicros(pid), database: server === undefined ? Number.NaN : cpuMicros(server) };
  const incidents = await untilEnded(pool, timers);
  const cpu = (cpuMicros(pid) - before.own) / timers;
  const databaseCpu = ((server === undefined ? Number.NaN : cpuMicros(server)) - before.database) / timers;
  const [rows] = await pool.query<RowDataPacket[]>('SELECT uuid, ended_at AS endedAt FROM process_instances');
  const ended = rows.flatMap(({ uuid, endedAt }) =>
    dueTimes.has(String(uuid)) && endedAt !== null
      ? [{ at: (endedAt as Date).getTime(), due: dueTimes.get(String(uuid))! }]
      : [],
  );
  const seconds = (Math.max(...ended.map(({ at }) => at)) - begin) / SECOND_MS;
  return {
    perSecond: ended.length / seconds,
    ...quantiles(ended.map(({ at, due }) => at - due)),
    cpu,
    databaseCpu,
    incidents,
  };
}

/**
 * Waits until all timers have ended, polling rarely to keep the overhead low.
 * @returns the number of instances with incidents
 * @throws Error when timers have not ended long after they were due, so they are lost
 */
async function untilEnded(pool: Pool, timers: number): Promise<number> {
  const deadline = Date.now() + GIVE_UP_MS;
  for (;;) {
    const [rows] = await pool.query<RowDataPacket[]>(
      `SELECT COUNT(*) AS open, COALESCE(SUM(open_incidents > 0), 0) AS incidents FROM process_instances WHERE ended_at IS NULL`,
    );
    const open = Number(rows[0]?.['open']);
    const incidents = Number(rows[0]?.['incidents']);
    if (open === incidents) {
      return incidents;
    }
    if (Date.now() > deadline) {
      throw new Error(`${open} of ${timers} timers have not ended.`);
    }
    await sleep(LOOK_MS);
  }
}
