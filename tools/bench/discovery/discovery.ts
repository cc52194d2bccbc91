import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DiscoveryResult } from '../../../src/discovery/model/scan.types.js';
import type { ProofEnvironment } from '../../proofs/support/proof-environment.js';
import { cpuMicros } from '../processor.js';
import { median } from '../table.js';
import { startServer } from '../server-process.js';

const COMPONENTS = 200;
const DELAY_MS = 100;
/** The default of `concurrency`. */
const CONCURRENCY = 16;
const PATH = '/api/platform/discover';

/**
 * Measures rescans of a platform of 200 HTTP services that take 100 ms each, at the default limits, against the ideal time.
 * The scan also checks the service's database and token issuer.
 */
export async function benchDiscovery(
  environment: ProofEnvironment,
  { folder, rounds }: { folder: string; rounds: number },
): Promise<void> {
  const slow = await startServer('slow', { DELAY_MS: String(DELAY_MS) });
  const file = join(folder, 'platform.json');
  const components = Array.from({ length: COMPONENTS }, (_, index) => ({
    key: `service${index}`,
    kind: 'http',
    endpoint: `${slow.url}/service${index}`,
  }));
  await writeFile(file, JSON.stringify({ platform: { components } }));
  const service = await environment.startService(await environment.emptyDatabase(), {
    DISCOVERY_CONFIG_FILE: file,
    'httpLimits.rescansPerMinute': '0',
  });
  const headers = { authorization: `Bearer ${await environment.token()}` };
  const read = async <Body>(path: string): Promise<Body> =>
    (await (await fetch(`${service.url}${path}`, { headers })).json()) as Body;
  const scan = async (): Promise<number> => {
    const { healthyServices } = await read<DiscoveryResult>(PATH);
    if (healthyServices !== COMPONENTS + 1) {
      throw new Error(`${healthyServices} services are healthy, so nothing was measured`);
    }
    const { scans } = await read<{ scans: { durationMs: number }[] }>(`${PATH}/scans?limit=1`);
    return scans[0]?.durationMs ?? 0;
  };
  await scan(); // warm-up
  const scans: number[] = [];
  const calls: number[] = [];
  const cpuBefore = cpuMicros(service.pid);
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    scans.push(await scan());
    calls.push(performance.now() - start);
  }
  const cpu = (cpuMicros(service.pid) - cpuBefore) / rounds / COMPONENTS;
  slow.stop();
  const ideal = Math.ceil(COMPONENTS / CONCURRENCY) * DELAY_MS;
  const scanMs = median(scans);
  console.log(
    `\nrescan of ${COMPONENTS} services of ${DELAY_MS} ms each, ${CONCURRENCY} concurrently, ${rounds} rounds`,
  );
  console.log(
    `ideal ${ideal} ms, scan ${scanMs.toFixed(0)} ms (${((scanMs / ideal - 1) * 100).toFixed(1)} percent more), ` +
      `whole call ${median(calls).toFixed(0)} ms, CPU ${cpu.toFixed(0)} us per probe`,
  );
}
