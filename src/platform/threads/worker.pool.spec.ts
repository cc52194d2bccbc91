import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { WorkerPool } from './worker.pool.js';

const MEMORY_MB = 16;
const LONG_MS = 600_000;
const WORKER = `
import { parentPort, workerData } from 'node:worker_threads';
if (workerData !== null) Atomics.wait(workerData, 0, 0);
const DOES = {
  answer: (id) => parentPort.postMessage({ id }),
  end: () => process.exit(1),
  throw: () => { throw new Error('thrown'); },
  fill: () => { for (const all = []; ; ) all.push(new Array(1_000).fill({})); },
  wait: () => undefined,
  spin: () => { for (;;) {} },
};
parentPort.on('message', ({ id, request }) => DOES[request](id));
parentPort.postMessage('ready');
`;

describe('WorkerPool', () => {
  const folder = mkdtempSync(join(tmpdir(), 'worker-pool-'));
  const entry = join(folder, 'worker.mjs');
  writeFileSync(entry, WORKER);
  afterAll(() => rmSync(folder, { recursive: true }));

  const poolOf = (workerData: Int32Array | null): WorkerPool<string, { id: number }, string> =>
    new WorkerPool({
      name: 'test',
      entry,
      workerData,
      memoryMb: MEMORY_MB,
      niceness: 0,
      maxJobs: 1,
      read: () => 'answered',
      lost: (cause) => cause,
    });
  const pool = poolOf(null);
  afterEach(async () => expect(await pool.run('answer', LONG_MS)).toBe('answered'));

  it.each([
    ['fill', 'memory'],
    ['end', 'ended'],
    ['throw', 'ended'],
  ])('reports why a worker exited, and replaces it: %s', async (request, cause) => {
    expect(await pool.run('answer', LONG_MS)).toBe('answered');
    expect(await pool.run(request, LONG_MS)).toBe(cause);
  });

  it('kills a worker that stalls, and replaces it', async () => {
    expect(await pool.run('answer', LONG_MS)).toBe('answered');
    expect(await pool.run('spin', 1)).toBe('timeout');
  });

  it('is ready when its worker has loaded', async () => {
    const gate = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const slow = poolOf(gate);
    let isReady = false;
    const ready = slow.ready().then(() => (isReady = true));
    // Meanwhile another worker starts and works.
    expect(await pool.run('answer', LONG_MS)).toBe('answered');
    expect(isReady).toBe(false);
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    await ready;
    expect(await slow.run('answer', LONG_MS)).toBe('answered');
    await slow.close();
  });

  it('reports which jobs timed out and which were rejected', async () => {
    expect(await pool.run('answer', LONG_MS)).toBe('answered');
    const late = pool.run('wait', 1);
    expect(await pool.run('answer', LONG_MS)).toBe('refused');
    expect(await late).toBe('timeout');
  });
});
