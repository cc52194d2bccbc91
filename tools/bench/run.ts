import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProofEnvironment } from '../proofs/support/proof-environment.js';
import { startDatabases } from '../../test/support/databases/start-databases.js';
import { benchDiscovery } from './discovery/discovery.js';
import { benchTimers } from './jobs/timer-storm.js';
import { benchPeers } from './peers/peers.js';
import { benchProcesses } from './processes/processes.js';
import { benchReads } from './reads/reads.js';
import { benchScale } from './scale/scale.js';
import { benchStorage } from './storage/storage.js';
import { benchToolCalls } from './tool-calls/tool-calls.js';
import { scriptOptions } from '../scripts/options.js';

/**
 * Measures the service on MySQL against baselines in the same run.
 *
 *     npm run bench [-- --short] [reads] [processes] [jobs] [scale] [discovery] [storage] [tool-calls] [peers]
 *
 * Servers are measured alternately, round by round, so that speed drift of the machine affects all of them alike; ratios
 * are computed within a round. Prints figures; it has no pass/fail thresholds.
 */
const { values, positionals } = scriptOptions({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false } },
});
const isWanted = (name: string): boolean => positionals.length === 0 || positionals.includes(name);
/** A short run only verifies that everything can be measured. */
const ROUNDS = values.short ? 1 : 5;
const SECONDS = values.short ? 1 : 3;

const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
const { databases, missing } = await startDatabases(['mysql']);
const [mysql] = databases;
if (mysql === undefined) {
  throw new Error(`MySQL is required: ${missing.map(({ reason }) => reason).join()}`);
}
const environment = await ProofEnvironment.create('mysql', { short: values.short, server: mysql, folder });
try {
  if (isWanted('reads')) {
    await benchReads(environment, { mysql, rounds: ROUNDS, seconds: SECONDS });
  }
  if (isWanted('processes')) {
    await benchProcesses(environment, {
      serverUrl: mysql.url,
      ...(values.short
        ? { rounds: 1, seconds: 0.3, actions: 100, waiting: 250 }
        : { rounds: 3, seconds: 2.5, actions: 1_000, waiting: 10_000 }),
    });
  }
  if (isWanted('jobs')) {
    await benchTimers(environment, {
      serverUrl: mysql.url,
      ...(values.short ? { rounds: 1, timers: 200 } : { rounds: 3, timers: 2_000 }),
    });
  }
  if (isWanted('scale')) {
    await benchScale(environment, {
      serverUrl: mysql.url,
      ...(values.short
        ? { replicas: [1], jobs: 200, paced: 50, idleSeconds: 1 }
        : { replicas: [1, 2, 4], jobs: 2_000, paced: 500, idleSeconds: 10 }),
    });
  }
  if (isWanted('discovery')) {
    await benchDiscovery(environment, { folder, rounds: values.short ? 1 : 10 });
  }
  if (isWanted('storage')) {
    await benchStorage(environment, { orders: values.short ? 200 : 2_000 });
  }
  if (isWanted('tool-calls')) {
    await benchToolCalls({ rounds: ROUNDS, seconds: values.short ? 0.5 : 2 });
  }
  // Java programs start too slowly for a short run.
  if (values.short ? positionals.includes('peers') : isWanted('peers')) {
    await benchPeers(environment, {
      serverUrl: mysql.url,
      folder,
      ...(values.short
        ? { rounds: 1, seconds: 1, warmUpSeconds: 1 }
        : { rounds: 3, seconds: 5, warmUpSeconds: 10 }),
    });
  }
} finally {
  await environment.end();
  await mysql.stop();
  await rm(folder, { recursive: true, force: true });
}
