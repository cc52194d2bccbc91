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

/** What one request came to; times are milliseconds since the epoch, which all processes share. */
interface Seen {
  path: string;
  from: number;
  to: number;
  status: number;
  body: string;
}

/** Asks for the paths over and over, from a process that nothing here holds up. */
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

describe('probes and metrics on a port of their own', () => {
  let app: TestApp | undefined;
  afterEach(() => app?.close());

  /** What a client sees before, during and after a stall of the main thread. */
  async function seen(settings: Record<string, string>): Promise<{ during: Seen[]; after: Seen[] }> {
    const port = await freePort();
    app = await TestApp.start({ METRICS_PORT: String(port), HOST: '127.0.0.1', ...settings });
    const url = `http://127.0.0.1:${port}`;
    const client = spawn(process.execPath, ['--input-type=module', '-e', CLIENT, url, ...PATHS]);
    const all: Seen[] = [];
    createInterface(client.stdout).on('line', (line) => {
      // The last line of a client that is ended may be a part of one.
      if (line.endsWith('}')) {
        all.push(JSON.parse(line) as Seen);
      }
    });
    await expect
      .poll(() => new Set(all.filter(({ status }) => status === 200).map(({ path }) => path)).size)
      .toBe(3);
    const from = Date.now();
    // The main thread does nothing else meanwhile, whatever it is asked.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_MS);
    const to = Date.now();
    const answered = () => all.filter((one) => one.from > to && one.status === 200);
    await expect.poll(() => new Set(answered().map(({ path }) => path)).size).toBe(3);
    client.kill();
    await once(client, 'close');
    return { during: all.filter((one) => one.from > from && one.to < to), after: answered() };
  }

  it('are answered while the main thread is busy, with what is known last', async () => {
    const { during } = await seen({});
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

  it('say that the replica is not ready while nothing listens on PORT', async () => {
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

  it('are answered again after their thread has died', async () => {
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

  it('say that the replica is not well when that lasts too long, until it is over', async () => {
    const { during, after } = await seen({ 'httpLimits.livenessMaxStallMs': String(STALL_MS / 2) });
    const told = new Set(during.map(({ path, status }) => `${path} ${status}`));
    expect(told).toContain('/livez 503');
    expect(told).toContain('/readyz 503');
    expect(told).toContain('/livez 200');
    expect(after[0]?.body).not.toBe('');
  });
});
