import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProcessClient } from '../../support/process-client.js';
import { APPROVAL } from '../../support/process-models.js';
import { ProofEnvironment } from '../../support/proof-environment.js';
import type { ServiceProcess } from '../../support/service-process.js';
import { freePort } from '../../../../test/support/databases/process-resources.js';
import { connectionTestPath, listPath } from '../../../../test/support/factories.js';
import { startHttpPeer, type Peer } from '../../../../test/support/peers/peer.js';
import { IN_TIME_MS, PATIENCE_MS } from '../../../../test/support/patience.js';
import { instancePath } from '../../../../test/support/runtime/runtime-client.js';
import { sendRaw, type RawAnswer } from '../../../../test/integration/http/raw-http.js';

const GRACE_MS = 8_000;
const REQUESTS_A_MINUTE = 20;
const HARD_LIMIT_MS = 1_500;
/** Value for all limits that a test does not cover, so high that only the tested limit can end anything in time. */
const BEYOND = String(2 * IN_TIME_MS);
const HIGH_LIMITS = {
  'httpLimits.shutdownTimeoutMs': BEYOND,
  'httpLimits.headersTimeoutMs': BEYOND,
  'httpLimits.requestTimeoutMs': BEYOND,
  'mcpLimits.testTimeoutMs': BEYOND,
  'outboundLimits.threadNiceness': '0',
};

/** Runs the built service as a separate process, which gets a real signal. */
describe('a replica that receives a stop signal', () => {
  let environment: ProofEnvironment;
  let folder: string;
  let peer: Peer;
  /** Requests that the peer has not answered; null once it answers immediately. */
  let held: ServerResponse[] | null;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-stopping-'));
    environment = await ProofEnvironment.create('embedded', { short: true, server: undefined, folder });
    peer = await startHttpPeer((_request, response) => {
      if (held === null) {
        response.writeHead(404).end();
      } else {
        held.push(response);
      }
    });
  });
  beforeEach(() => {
    held = [];
  });
  afterAll(async () => {
    await environment.end();
    await peer.close();
    await rm(folder, { recursive: true });
  });

  /** Returns a function that sends requests on keep-alive connections, which only the service closes. */
  const caller = async ({ url }: ServiceProcess) => {
    const authorization = `Authorization: Bearer ${await environment.token()}\r\n`;
    return (method: string, path: string, body = '', onBytes?: () => void): Promise<RawAnswer> => {
      const json = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      const message = `${method} ${path} HTTP/1.1\r\nHost: x\r\n${authorization}${json}\r\n${body}`;
      return sendRaw(url, { parts: [message], patienceMs: PATIENCE_MS, ...(onBytes && { onBytes }) });
    };
  };
  const isHeld = (count: number): Promise<void> => vi.waitFor(() => expect(held).toHaveLength(count));
  const answerHeld = (): void => {
    held?.forEach((response) => response.writeHead(404).end());
    held = null;
  };
  const statusOf = async (url: URL, headers = {}): Promise<number> => {
    const response = await fetch(url, { headers });
    await response.text();
    return response.status;
  };
  const isStopping = ({ url }: ServiceProcess): Promise<void> =>
    vi.waitFor(async () => expect(await statusOf(new URL('/readyz', url))).toBe(503));
  const target = (): string => JSON.stringify({ baseUrl: peer.url, authorization: { type: 'NO_AUTH' } });

  it('serves until the grace period ends, then responds 503, and aborts no earlier request', async () => {
    const service = await environment.startService(await environment.emptyDatabase(), {
      ...HIGH_LIMITS,
      SHUTDOWN_DELAY_MS: String(GRACE_MS),
      RATE_LIMIT_ADDRESS_PER_MINUTE: String(REQUESTS_A_MINUTE),
      EGRESS_ALLOW: '127.0.0.1',
    });
    const send = await caller(service);
    const slow = (): Promise<RawAnswer> => send('PATCH', connectionTestPath(), target());

    // Use up most of the rate limit, so that few requests are needed within the grace period.
    const headers = { authorization: `Bearer ${await environment.token()}` };
    const list = new URL(listPath(), service.url);
    await Promise.all(
      Array.from({ length: REQUESTS_A_MINUTE - 4 }, async () => (await fetch(list, { headers })).text()),
    );
    const startedBefore = slow();
    await isHeld(1);
    const ended = service.kill('SIGTERM');
    await isStopping(service);
    expect(summarize(await send('GET', '/readyz'))).toEqual([503, 'close', undefined]);
    expect(summarize(await send('GET', listPath()))).toEqual([200, 'close', undefined]);
    const startedInGrace = slow();
    const flood = await Promise.all(Array.from({ length: 6 }, () => send('GET', listPath())));
    expect(flood.map((answer) => summarize(answer).slice(0, 2))).toContainEqual([429, 'close']);

    await isHeld(2);
    await vi.waitFor(async () => expect(await statusOf(list, headers)).toBe(503));
    for (const path of [listPath(), '/unknown', '/docs-json']) {
      const refused = await send('GET', path);
      expect([path, ...summarize(refused)]).toEqual([path, 503, 'close', '1']);
      expect(JSON.parse(refused.body)).toEqual({
        error: 'Service Unavailable',
        message: 'This replica of the service is stopping.',
        status: 503,
        details: 'Send the request again.',
      });
    }
    expect(summarize(await send('GET', '/livez'))).toEqual([200, 'close', undefined]);
    answerHeld();
    for (const answer of [await startedBefore, await startedInGrace]) {
      expect(summarize(answer)).toEqual([200, 'close', undefined]);
      expect(JSON.parse(answer.body)).toMatchObject({ status: 500 });
    }
    expect(await ended).toBe(0);
  });

  it('ends live progress properly after the grace period, and ignores further signals after SIGTERM', async () => {
    const service = await environment.startService(await environment.emptyDatabase(), {
      SHUTDOWN_DELAY_MS: String(GRACE_MS),
    });
    const client = new ProcessClient(service.url, await environment.token());
    const { body: instance } = await client.start(
      await client.publish({ approval: APPROVAL }),
      'approval',
      {},
    );
    await client.close();
    const send = await caller(service);
    const begun = vi.fn<() => void>();
    const progress = (): Promise<RawAnswer> =>
      send('GET', `${instancePath(String(instance['uuid']))}/progress`, '', begun);

    const startedBefore = progress();
    await vi.waitFor(() => expect(begun).toHaveBeenCalled());
    const signalled = performance.now();
    const ended = service.kill('SIGTERM');
    await isStopping(service);
    void service.kill('SIGTERM');
    void service.kill('SIGINT');
    const answers = await Promise.all([startedBefore, progress()]);
    expect(performance.now() - signalled).toBeGreaterThan(GRACE_MS);
    for (const { status, isClosed, body } of answers) {
      expect([status, isClosed, body.includes('event: instance\n')]).toEqual([200, true, true]);
      expect(body.endsWith('\r\n0\r\n\r\n')).toBe(true);
    }
    expect(await ended).toBe(0);
  });

  it('does not wait for connections without a request', async () => {
    const service = await environment.startService(await environment.emptyDatabase(), HIGH_LIMITS);
    const silent = sendRaw(service.url, { parts: [], patienceMs: PATIENCE_MS });
    const beginning = sendRaw(service.url, {
      parts: ['GET /livez HTTP/1.1\r\nHost'],
      patienceMs: PATIENCE_MS,
    });
    await sleep(300);
    const signalled = performance.now();
    expect(await service.kill('SIGTERM')).toBe(0);
    expect(performance.now() - signalled).toBeLessThan(IN_TIME_MS);
    for (const answer of await Promise.all([silent, beginning])) {
      expect(answer).toMatchObject({ text: '', isClosed: true });
    }
  });

  it('exits immediately on a second Ctrl-C, but not if one Ctrl-C is delivered twice', async () => {
    const service = await environment.startService(await environment.emptyDatabase(), {
      ...HIGH_LIMITS,
      EGRESS_ALLOW: '127.0.0.1',
    });
    const send = await caller(service);
    const slow = send('PATCH', connectionTestPath(), target());
    await isHeld(1);
    const ended = service.kill('SIGINT');
    void service.kill('SIGINT');
    await sleep(200);
    void service.kill('SIGINT');
    await sleep(600);
    void service.kill('SIGTERM');
    await sleep(100);
    expect(service.hasEnded).toBe(false);
    const pressed = performance.now();
    void service.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(performance.now() - pressed).toBeLessThan(IN_TIME_MS);
    expect(await slow).toMatchObject({ status: undefined, isClosed: true });
  });

  it('serves metrics on METRICS_PORT until the end, and waits for no connection there', async () => {
    const port = await freePort();
    const service = await environment.startService(await environment.emptyDatabase(), {
      ...HIGH_LIMITS,
      METRICS_PORT: String(port),
      SHUTDOWN_DELAY_MS: String(GRACE_MS / 4),
    });
    const metrics = `http://127.0.0.1:${port}/`;
    const raw = (text: string): Promise<RawAnswer> =>
      sendRaw(metrics, { parts: text === '' ? [] : [text], patienceMs: PATIENCE_MS });
    const scrape = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';
    const [kept, silent, beginning] = [raw(scrape), raw(''), raw('GET /metrics HTTP/1.1\r\nHost')];
    await sleep(300);
    const signalled = performance.now();
    const ended = service.kill('SIGTERM');
    await sleep(200);
    const inGrace = await raw(scrape);
    expect(summarize(inGrace).slice(0, 2)).toEqual([200, 'close']);
    expect(inGrace.body).toContain('svc_http_request_duration_seconds');
    expect(await ended).toBe(0);
    expect(performance.now() - signalled).toBeLessThan(IN_TIME_MS);
    expect(summarize(await kept)[0]).toBe(200);
    for (const answer of [await kept, await silent, await beginning]) {
      expect(answer.isClosed).toBe(true);
    }
    await expect(fetch(`${metrics}metrics`)).rejects.toThrow('fetch failed');
  });

  it('waits no longer than httpLimits.shutdownTimeoutMs, and reports it', async () => {
    const service = await environment.startService(await environment.emptyDatabase(), {
      ...HIGH_LIMITS,
      'httpLimits.shutdownTimeoutMs': String(HARD_LIMIT_MS),
      EGRESS_ALLOW: '127.0.0.1',
      LOG_LEVEL: 'warn',
    });
    const send = await caller(service);
    const slow = send('PATCH', connectionTestPath(), target());
    await isHeld(1);
    const signalled = performance.now();
    expect(await service.kill('SIGTERM')).toBe(1);
    const took = performance.now() - signalled;
    expect([took >= HARD_LIMIT_MS - 50, took < IN_TIME_MS]).toEqual([true, true]);
    expect(await slow).toMatchObject({ status: undefined, isClosed: true });
    expect(service.outputTail).toContain('stopped before every request was answered');
  });
});

/** Returns status, `Connection` and `Retry-After` of a response. */
function summarize({
  status,
  text,
}: RawAnswer): [number | undefined, string | undefined, string | undefined] {
  const header = (name: string): string | undefined => new RegExp(`^${name}: (.*)\\r$`, 'im').exec(text)?.[1];
  return [status, header('connection'), header('retry-after')];
}
