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
/** All other limits are beyond what ends by the limit of a test, so that what ends in time has ended by that. */
const BEYOND = String(2 * IN_TIME_MS);
const PATIENT = {
  'httpLimits.shutdownTimeoutMs': BEYOND,
  'httpLimits.headersTimeoutMs': BEYOND,
  'httpLimits.requestTimeoutMs': BEYOND,
  'mcpLimits.testTimeoutMs': BEYOND,
  'outboundLimits.threadNiceness': '0',
};

/** The built service as a process of its own, which gets a real signal. */
describe('a replica that is told to stop', () => {
  let environment: ProofEnvironment;
  let folder: string;
  let peer: Peer;
  /** What the peer was asked and has not answered; null once it answers at once. */
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

  /** Sends requests whose connection is meant to be kept, and which nobody closes but the service. */
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

  it('serves until the grace time is over, then answers 503, and cuts nothing that began before', async () => {
    const service = await environment.startService(await environment.emptyDatabase(), {
      ...PATIENT,
      SHUTDOWN_DELAY_MS: String(GRACE_MS),
      RATE_LIMIT_ADDRESS_PER_MINUTE: String(REQUESTS_A_MINUTE),
      EGRESS_ALLOW: '127.0.0.1',
    });
    const send = await caller(service);
    const slow = (): Promise<RawAnswer> => send('PATCH', connectionTestPath(), target());

    // Nearly all that an address may ask, so that few requests have to come within the grace time.
    const headers = { authorization: `Bearer ${await environment.token()}` };
    const list = new URL(listPath(), service.url);
    await Promise.all(
      Array.from({ length: REQUESTS_A_MINUTE - 4 }, async () => (await fetch(list, { headers })).text()),
    );
    const begunBefore = slow();
    await isHeld(1);
    const ended = service.kill('SIGTERM');
    await isStopping(service);
    expect(about(await send('GET', '/readyz'))).toEqual([503, 'close', undefined]);
    expect(about(await send('GET', listPath()))).toEqual([200, 'close', undefined]);
    const begunInGrace = slow();
    const flood = await Promise.all(Array.from({ length: 6 }, () => send('GET', listPath())));
    expect(flood.map((answer) => about(answer).slice(0, 2))).toContainEqual([429, 'close']);

    await isHeld(2);
    await vi.waitFor(async () => expect(await statusOf(list, headers)).toBe(503));
    for (const path of [listPath(), '/unknown', '/docs-json']) {
      const refused = await send('GET', path);
      expect([path, ...about(refused)]).toEqual([path, 503, 'close', '1']);
      expect(JSON.parse(refused.body)).toEqual({
        error: 'Service Unavailable',
        message: 'This replica of the service is stopping.',
        status: 503,
        details: 'Send the request again.',
      });
    }
    expect(about(await send('GET', '/livez'))).toEqual([200, 'close', undefined]);
    answerHeld();
    for (const answer of [await begunBefore, await begunInGrace]) {
      expect(about(answer)).toEqual([200, 'close', undefined]);
      expect(JSON.parse(answer.body)).toMatchObject({ status: 500 });
    }
    expect(await ended).toBe(0);
  });

  it('ends live progress when the grace time is over, to the last chunk, and takes no second signal after SIGTERM', async () => {
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

    const begunBefore = progress();
    await vi.waitFor(() => expect(begun).toHaveBeenCalled());
    const signalled = performance.now();
    const ended = service.kill('SIGTERM');
    await isStopping(service);
    void service.kill('SIGTERM');
    void service.kill('SIGINT');
    const answers = await Promise.all([begunBefore, progress()]);
    expect(performance.now() - signalled).toBeGreaterThan(GRACE_MS);
    for (const { status, isClosed, body } of answers) {
      expect([status, isClosed, body.includes('event: instance\n')]).toEqual([200, true, true]);
      expect(body.endsWith('\r\n0\r\n\r\n')).toBe(true);
    }
    expect(await ended).toBe(0);
  });

  it('does not wait for connections on which nothing was asked yet', async () => {
    const service = await environment.startService(await environment.emptyDatabase(), PATIENT);
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

  it('ends at once when a person presses Ctrl-C again, and not when one Ctrl-C comes twice', async () => {
    const service = await environment.startService(await environment.emptyDatabase(), {
      ...PATIENT,
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

  it('serves metrics on METRICS_PORT to the end, and waits for no connection there', async () => {
    const port = await freePort();
    const service = await environment.startService(await environment.emptyDatabase(), {
      ...PATIENT,
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
    expect(about(inGrace).slice(0, 2)).toEqual([200, 'close']);
    expect(inGrace.body).toContain('svc_http_request_duration_seconds');
    expect(await ended).toBe(0);
    expect(performance.now() - signalled).toBeLessThan(IN_TIME_MS);
    expect(about(await kept)[0]).toBe(200);
    for (const answer of [await kept, await silent, await beginning]) {
      expect(answer.isClosed).toBe(true);
    }
    await expect(fetch(`${metrics}metrics`)).rejects.toThrow('fetch failed');
  });

  it('waits no longer than httpLimits.shutdownTimeoutMs, and tells that it did', async () => {
    const service = await environment.startService(await environment.emptyDatabase(), {
      ...PATIENT,
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

/** Status, `Connection` and `Retry-After` of an answer. */
function about({ status, text }: RawAnswer): [number | undefined, string | undefined, string | undefined] {
  const header = (name: string): string | undefined => new RegExp(`^${name}: (.*)\\r$`, 'im').exec(text)?.[1];
  return [status, header('connection'), header('retry-after')];
}
