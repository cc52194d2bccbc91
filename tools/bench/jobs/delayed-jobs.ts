import { setTimeout as sleep } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise';
import { tryStart } from '../../../test/support/databases/local-server.js';
import { startRedis, type ProbedServer } from '../../../test/support/discovery/servers.js';
import { quantiles } from '../callers.js';
import { cpuMicros } from '../processor.js';
import { startServer, type ServerProcess } from '../server-process.js';

const QUEUE = 'bench';
const SECOND_MS = 1_000;
const LOOK_MS = 100;
const GIVE_UP_MS = 120_000;
/** Default of JOBS_CONCURRENCY in the service. */
const CONCURRENCY = 16;
const TABLES = [
  'CREATE TABLE bench_jobs (id BIGINT PRIMARY KEY, due DATETIME(3) NOT NULL, ended_at DATETIME(3) NULL)',
  'CREATE TABLE bench_events (id BIGINT AUTO_INCREMENT PRIMARY KEY, job_id BIGINT NOT NULL, at DATETIME(3) NOT NULL)',
];

/** Results of many delayed jobs. Latencies are in milliseconds, processor time per job in microseconds. */
export interface DelayedStorm {
  perSecond: number;
  p50: number;
  p99: number;
  cpu: number;
  databaseCpu: number;
}

/** Delayed jobs of BullMQ on its own Redis, with tables in the service's database. */
export class DelayedJobs {
  private last = 0;

  private constructor(
    private readonly redis: ProbedServer,
    private readonly worker: ServerProcess,
    private readonly queue: Queue,
    private readonly pool: Pool,
  ) {}

  /** Starts Redis and a worker. Logs the reason and returns undefined if Redis is not available. */
  static async open(databaseUrl: string): Promise<DelayedJobs | undefined> {
    const { server: redis, missing } = await tryStart(() =>
      startRedis('appendonly yes', 'appendfsync everysec', 'maxmemory-policy noeviction'),
    );
    if (redis === undefined) {
      console.log(`BullMQ skipped: ${missing}`);
      return undefined;
    }
    const uri = databaseUrl.replace(/^mariadb:/, 'mysql:');
    const pool = createPool({ uri, connectionLimit: 1, timezone: 'Z' });
    for (const table of TABLES) {
      await pool.query(table);
    }
    const url = `redis://default:admin@127.0.0.1:${redis.port}`;
    const environment = { REDIS_URL: url, DATABASE_URL: uri, QUEUE, CONCURRENCY: String(CONCURRENCY) };
    const worker = await startServer('queue', environment);
    return new DelayedJobs(redis, worker, new Queue(QUEUE, { connection: { url } }), pool);
  }

  /** Runs `count` jobs that become due within one second. */
  async storm(count: number, databasePid: number | undefined): Promise<DelayedStorm> {
    const first = this.last + 1;
    this.last += count;
    const begin = Date.now() + count + SECOND_MS;
    const rows = Array.from({ length: count }, (_, index): [number, Date] => [
      first + index,
      new Date(begin + Math.floor((index * SECOND_MS) / count)),
    ]);
    await this.pool.query('INSERT INTO bench_jobs (id, due) VALUES ?', [rows]);
    await this.queue.addBulk(
      rows.map(([id, due]) => ({
        name: 'timer',
        data: { id },
        opts: { delay: due.getTime() - Date.now(), removeOnComplete: true },
      })),
    );
    if (Date.now() >= begin) {
      throw new Error('The jobs became due before all of them were added.');
    }
    await sleep(begin - Date.now());
    const used = (pid: number | undefined): number => (pid === undefined ? Number.NaN : cpuMicros(pid));
    const before = { own: used(this.worker.pid), database: used(databasePid) };
    await this.untilEnded(first);
    const cpu = (used(this.worker.pid) - before.own) / count;
    const databaseCpu = (used(databasePid) - before.database) / count;
    const [ended] = await this.pool.query<RowDataPacket[]>(
      'SELECT due, ended_at AS endedAt FROM bench_jobs WHERE id >= ?',
      [first],
    );
    const times = ended.map(({ due, endedAt }) => ({
      due: (due as Date).getTime(),
      at: (endedAt as Date).getTime(),
    }));
    const seconds = (Math.max(...times.map(({ at }) => at)) - begin) / SECOND_MS;
    return {
      perSecond: count / seconds,
      ...quantiles(times.map(({ at, due }) => at - due)),
      cpu,
      databaseCpu,
    };
  }

  async close(): Promise<void> {
    this.worker.stop();
    await this.queue.close();
    await this.pool.end();
    await this.redis.server.stop();
  }

  /**
   * Waits until all jobs have ended.
   * @throws Error when jobs have not ended long after they were due
   */
  private async untilEnded(first: number): Promise<void> {
    for (const deadline = Date.now() + GIVE_UP_MS; ; await sleep(LOOK_MS)) {
      const [rows] = await this.pool.query<RowDataPacket[]>(
        'SELECT COUNT(*) AS open FROM bench_jobs WHERE id >= ? AND ended_at IS NULL',
        [first],
      );
      const open = Number(rows[0]?.['open']);
      if (open === 0) {
        return;
      }
      if (Date.now() > deadline) {
        throw new Error(`${open} jobs have not ended.`);
      }
    }
  }
}
