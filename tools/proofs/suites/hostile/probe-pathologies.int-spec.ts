import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { ProbeError, type ProbeFailure } from '../../../../src/discovery/model/failures.js';
import type { ComponentKind } from '../../../../src/discovery/model/component.types.js';
import { component, probesWith, runProbe } from '../../../../test/support/discovery/run-probe.js';
import { connectionService, stopServices } from '../../../../test/support/peers/mcp-services.js';
import * as hostile from '../../../../test/support/peers/pathologies.js';
import {
  noSocketsLeft,
  type Peer,
  startHttpPeer,
  startTcpPeer as startRawPeer,
} from '../../../../test/support/peers/peer.js';

const CANARY = 'canary-3f1c9a';
const DEADLINE_MS = 400;
/** Generous limit that only detects hangs on a busy machine. */
const LATE_MS = 30_000;
const probes = probesWith(connectionService());
afterAll(stopServices);

const HTTP_KINDS = [
  'http',
  'elasticsearch',
  'rabbitmq',
  'nats',
  's3',
  'oidc',
  'token-endpoint',
  'mcp',
] as const satisfies ComponentKind[];
/** Kinds whose URL scheme has the same name. */
const SOCKET_KINDS = [
  'mysql',
  'postgresql',
  'redis',
  'kafka',
  'mongodb',
  'smtp',
] as const satisfies ComponentKind[];

/** Starts a peer that reads its input, since without reading it would not notice that the other side has closed. */
function startTcpPeer(onConnection: (socket: Socket) => void, scheme: 'http' | 'https'): Promise<Peer> {
  return startRawPeer((socket) => {
    socket.resume();
    onConnection(socket);
  }, scheme);
}

function urlOf({ url }: Peer, kind: ComponentKind): string {
  return SOCKET_KINDS.some((own) => own === kind) ? url.replace(/^https?/, kind).replace(/\/$/, '') : url;
}

/** Probes a hostile peer. Checks that the probe fails in time, leaves no socket open and exposes no secret. */
async function failureAt(
  kind: ComponentKind,
  peer: Peer,
  trust: 'operator' | 'registered' = 'operator',
): Promise<ProbeFailure> {
  const target = component(kind, urlOf(peer, kind), {
    credentials: { username: CANARY, password: CANARY },
    options: { headers: { 'x-key': CANARY } },
    trust,
  });
  const startedAt = performance.now();
  const error: unknown = await runProbe(target, { timeoutMs: DEADLINE_MS, probes }).catch(
    (thrown: unknown) => thrown,
  );
  const took = performance.now() - startedAt;
  await noSocketsLeft(peer);
  await peer.close();
  expect(error).toBeInstanceOf(ProbeError);
  expect(took).toBeLessThan(DEADLINE_MS + LATE_MS);
  const { message, stack, failure } = error as ProbeError;
  expect(`${message} ${stack} ${JSON.stringify(error)}`).not.toContain(CANARY);
  return failure;
}

const HTTP_CASES: [string, RequestListener, string[]][] = [
  ['never responds', hostile.neverAnswers, ['timeout']],
  ['drips one byte per second', hostile.dripBody, ['timeout']],
  ['drips its headers', hostile.dripHeaders, ['timeout']],
  ['resets the connection', hostile.resets, ['network']],
  ['responds endlessly', hostile.hugeAnswer(false), ['too_large']],
  ['sends a gzip bomb', hostile.gzipBomb, ['protocol']],
  ['redirects endlessly', hostile.redirectsForEver, ['redirect']],
];

describe.each(HTTP_KINDS)('the probe of %s over HTTP', (kind) => {
  it.each(HTTP_CASES)('fails in time when the component %s', async (_name, listener, failures) => {
    expect(failures).toContain(await failureAt(kind, await startHttpPeer(listener)));
  });

  it('fails when the component speaks another protocol or stalls in TLS', async () => {
    expect(
      await failureAt(
        kind,
        await startTcpPeer((socket) => socket.end('\u0000\u0001 garbage \r\n\r\n'), 'http'),
      ),
    ).toBe('protocol');
    expect(
      await failureAt(kind, await startTcpPeer((socket) => socket.end('no TLS record\r\n\r\n'), 'https')),
    ).toBe('tls');
    expect(await failureAt(kind, await startTcpPeer(() => undefined, 'https'))).toBe('timeout');
  });
});

describe('a component registered by callers', () => {
  it.each(HTTP_CASES.filter(([name]) => !name.includes('gzip')))(
    'fails in time when it %s',
    async (_name, listener, failures) => {
      const peer = await startHttpPeer(listener);
      expect(failures).toContain(await failureAt('token-endpoint', peer, 'registered'));
    },
  );

  it('is not called if the address policy forbids it', async () => {
    const targets = [
      component('http', 'http://169.254.169.254/', { trust: 'registered' }),
      component('mcp', 'http://169.254.169.254/', { trust: 'registered' }),
      component('redis', 'redis://127.0.0.1:1', { trust: 'registered' }),
    ];
    for (const target of targets) {
      await expect(runProbe(target, { probes })).rejects.toMatchObject({ failure: 'blocked' });
    }
  });
});

describe.each(SOCKET_KINDS)('the probe of %s', (kind) => {
  it('fails in time when the component is silent or drips', async () => {
    expect(await failureAt(kind, await startTcpPeer(() => undefined, 'http'))).toBe('timeout');
    const drip = await startTcpPeer((socket) => {
      const timer = setInterval(() => socket.write('\n'), 200);
      socket.once('close', () => clearInterval(timer));
    }, 'http');
    const broken = kind === 'mongodb' ? ['network'] : [];
    expect(['timeout', 'protocol', ...broken]).toContain(await failureAt(kind, drip));
  });

  it('fails when the component resets, sends endlessly or speaks another protocol', async () => {
    const reset = await startTcpPeer((socket) => socket.resetAndDestroy(), 'http');
    expect(['network', 'timeout']).toContain(await failureAt(kind, reset));
    // MongoDB's driver retries until its deadline.
    const lastly = kind === 'mongodb' ? ['timeout'] : [];
    const chunk = Buffer.alloc(65_536, 'x');
    const endless = await startTcpPeer((socket) => {
      const pour = (): void => {
        while (!socket.destroyed && socket.write(chunk)) {
          // Write until the receiver is slower.
        }
      };
      socket.on('drain', pour);
      pour();
    }, 'http');
    expect(['too_large', 'protocol', 'network', ...lastly]).toContain(await failureAt(kind, endless));
    const web = await startTcpPeer((socket) => {
      socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
    }, 'http');
    expect(['protocol', 'network', ...lastly]).toContain(await failureAt(kind, web));
  });
});

it('leaks no handle', async () => {
  const silent = await startTcpPeer(() => undefined, 'http');
  const handles = (): number =>
    process.getActiveResourcesInfo().filter((name) => /TCP|TLS|Timeout/.test(name)).length;
  const before = handles();
  for (const kind of SOCKET_KINDS) {
    await runProbe(component(kind, urlOf(silent, kind)), { timeoutMs: 100 }).catch(() => undefined);
  }
  await noSocketsLeft(silent);
  await expect.poll(handles).toBeLessThanOrEqual(before);
  await silent.close();
});
