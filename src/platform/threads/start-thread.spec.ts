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

it('passes worker data and the memory limit to a thread, but no variables and options of the process', async () => {
  vi.stubEnv('SECRETS_KEYS', 'a secret');
  const thread = startThread({ name: 'test', entry, workerData: { handed: 'over' }, memoryMb: 16 });
  const [received] = (await once(thread, 'message')) as [unknown];
  await thread.terminate();
  expect(received).toEqual({ env: {}, execArgv: [], workerData: { handed: 'over' }, heapMb: 16 });
});
