import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { startThread } from './start-thread.js';

const folder = mkdtempSync(join(tmpdir(), 'start-thread-'));
const entry = join(folder, 'worker.mjs');
writeFileSync(
  entry,
  `import { parentPort, resourceLimits, workerData } from 'node:worker_threads';
   const { env, execArgv } = process;
   parentPort.postMessage({ env: { ...env }, execArgv, workerData, heapMb: resourceLimits.maxOldGenerationSizeMb });`,
);
afterEach(() => void vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true }));

it('gives a thread what it is handed over, its bound of memory, and no variable or option of the process', async () => {
  vi.stubEnv('SECRETS_KEYS', 'a secret');
  const thread = startThread({ name: 'test', entry, workerData: { handed: 'over' }, memoryMb: 16 });
  const [told] = (await once(thread, 'message')) as [unknown];
  await thread.terminate();
  expect(told).toEqual({ env: {}, execArgv: [], workerData: { handed: 'over' }, heapMb: 16 });
});
