import { Worker } from 'bullmq';
import { createPool } from 'mysql2/promise';

/** BullMQ worker. Each job updates its row and inserts one, in its own transaction. Sends port 0 when it is ready. */
const { REDIS_URL: url = '', DATABASE_URL: uri = '', QUEUE: queue = '', CONCURRENCY } = process.env;

const pool = createPool({ uri, connectionLimit: 10, timezone: 'Z' });
const worker = new Worker<{ id: number }>(
  queue,
  async ({ data: { id } }) => {
    const connection = await pool.getConnection();
    try {
      await connection.beginTransaction();
      await connection.query('UPDATE bench_jobs SET ended_at = ? WHERE id = ?', [new Date(), id]);
      await connection.query('INSERT INTO bench_events (job_id, at) VALUES (?, ?)', [id, new Date()]);
      await connection.commit();
    } finally {
      connection.release();
    }
  },
  { connection: { url, maxRetriesPerRequest: null }, concurrency: Number(CONCURRENCY) },
);
await worker.waitUntilReady();
process.send?.({ port: 0 });
