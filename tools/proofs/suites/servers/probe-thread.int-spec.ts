import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { ProbeThreadService } from '../../../../src/health/probe-thread.service.js';
import { TestApp } from '../../../../test/support/app.js';
import { freePort } from '../../../../test/support/databases/process-resources.js';

const STALL_MS = 3_000;
const PATHS = ['/livez', '/readyz', '/metrics'];

/** Result of one request. Times are milliseconds since the epoch, which all processes share. */
interface ProbeResult {
  path: string;
  from: number;
  to: number;
  status: number;
  body: string;
}

/** Client process that requests the paths repeatedly, unaffected by stalls of this process. */
const CLIENT = `
const [url, ...paths] = process.argv.slice(1);
for (;;) {
  for (const path of paths) {
    const from = Date.now();
    const answer = await fetch(url + path).catch((error) => ({ status: 0, text: () => String(error) }));
    const body = await answer.text();
    console.log(JSON.stringify({ path, from, to: Date.now(), status: answer.status, body }));
  }
}`;

describe('probes and metrics on a separate port', () => {
  let app: TestApp | undefined;
  afterEach(() => app?.close());

  /** Returns the responses a client receives during and after a stall of the main thread. */
  async function duringStall(
    settings: Record<string, string>,
  ): Promise<{ during: ProbeResult[]; after: ProbeResult[] }> {
    const port = await freePort();
    app = await TestApp.start({ METRICS_PORT: String(port), HOST: '127.0.0.1', ...settings });
    const url = `http://127.0.0.1:${port}`;
    const client = spawn(process.execPath, ['--input-type=module', '-e', CLIENT, url, ...PATHS]);
    const all: ProbeResult[] = [];
    createInterface(client.stdout).on('line', (line) => {
      // The last line of a killed client may be incomplete.
      if (line.endsWith('}')) {
        all.push(JSON.parse(line) as ProbeResult);
      }
    });
    await expect
      .poll(() => new Set(all.filter(({ status }) => status === 200).map(({ path }) => path)).size)
      .toBe(3);
    const from = Date.now();
    // Stalls the main thread completely.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_MS);
    const to = Date.now();
    const answered = () => all.filter((one) => one.from > to && one.status === 200);
    await expect.poll(() => new Set(answered().map(({ path }) => path)).size).toBe(3);
    client.kill();
    await once(client, 'close');
    return { during: all.filter((one) => one.from > from && one.to < to), after: answered() };
  }

  it('respond with the last known state while the main thread is busy', async () => {
    const { during } = await duringStall({});
    expect(new Set(during.map(({ path, status }) => `${path} ${status}`))).toEqual(
      new Set(PATHS.map((path) => `${path} 200`)),
    );
    const { silentMs } = JSON.parse(during.findLast(({ path }) => path === '/livez')?.body ?? '') as {
      silentMs: number;
    };
    expect(silentMs).toBeGreaterThan(STALL_MS / 3);
    const { body = '' } = during.findLast(({ path }) => path === '/metrics') ?? {};
    expect(body).toContain('svc_http_request_duration_seconds');
    expect(Number(/^svc_metrics_age_seconds (.*)$/m.exec(body)?.[1])).toBeGreaterThan(0);
  });

  it('report that the replica is not ready while nothing listens on PORT', async () => {
    const port = await freePort();
    app = await TestApp.start({ METRICS_PORT: String(port), HOST: '127.0.0.1' });
    const status = async (): Promise<number> => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
    await expect.poll(status).toBe(200);
    const server = app.nest.getHttpServer();
    server.close();
    await expect.poll(status).toBe(503);
    server.listen(0, '127.0.0.1');
    await expect.poll(status).toBe(200);
  });

  it('respond again after their thread has died', async () => {
    const port = await freePort();
    app = await TestApp.start({ METRICS_PORT: String(port), HOST: '127.0.0.1' });
    const service = app.nest.get<unknown, { worker: Worker }>(ProbeThreadService);
    await service.worker.terminate();
    const status = (): Promise<number> =>
      fetch(`http://127.0.0.1:${port}/livez`).then(
        (answer) => answer.status,
        () => 0,
      );
    expect(await status()).toBe(0);
    await expect.poll(status).toBe(200);
  });

  it('report that the replica is unhealthy while a stall lasts too long', async () => {
    const { during, after } = await duringStall({ 'httpLimits.livenessMaxStallMs': String(STALL_MS / 2) });
    const results = new Set(during.map(({ path, status }) => `${path} ${status}`));
    expect(results).toContain('/livez 503');
    expect(results).toContain('/readyz 503');
    expect(results).toContain('/livez 200');
    expect(after[0]?.body).not.toBe('');
  });
});
