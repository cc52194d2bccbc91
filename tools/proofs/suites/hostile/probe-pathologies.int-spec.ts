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
/** Only tells a hang from an end in time, on a machine that does other work too. */
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
/** Their schemes have the same names. */
const SOCKET_KINDS = [
  'mysql',
  'postgresql',
  'redis',
  'kafka',
  'mongodb',
  'smtp',
] as const satisfies ComponentKind[];

/** A peer that reads: one that does not never learns that the other side has gone. */
function startTcpPeer(onConnection: (socket: Socket) => void, scheme: 'http' | 'https'): Promise<Peer> {
  return startRawPeer((socket) => {
    socket.resume();
    onConnection(socket);
  }, scheme);
}

function urlOf({ url }: Peer, kind: ComponentKind): string {
  return SOCKET_KINDS.some((own) => own === kind) ? url.replace(/^https?/, kind).replace(/\/$/, '') : url;
}

/** Runs a probe at a hostile peer: it fails in time, leaves no socket and tells no secret. */
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
  ['says nothing', hostile.neverAnswers, ['timeout']],
  ['drips a byte a second', hostile.dripBody, ['timeout']],
  ['drips its headers', hostile.dripHeaders, ['timeout']],
  ['resets the connection', hostile.resets, ['network']],
  ['answers without end', hostile.hugeAnswer(false), ['too_large']],
  ['sends a gzip bomb', hostile.gzipBomb, ['protocol']],
  ['redirects for ever', hostile.redirectsForEver, ['redirect']],
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

describe('a component that callers named', () => {
  it.each(HTTP_CASES.filter(([name]) => !name.includes('gzip')))(
    'fails in time when it %s',
    async (_name, listener, failures) => {
      const peer = await startHttpPeer(listener);
      expect(failures).toContain(await failureAt('token-endpoint', peer, 'registered'));
    },
  );

  it('is not called where the address policy forbids', async () => {
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
  it('fails in time when the component says nothing or drips', async () => {
    expect(await failureAt(kind, await startTcpPeer(() => undefined, 'http'))).toBe('timeout');
    const drip = await startTcpPeer((socket) => {
      const timer = setInterval(() => socket.write('\n'), 200);
      socket.once('close', () => clearInterval(timer));
    }, 'http');
    const broken = kind === 'mongodb' ? ['network'] : [];
    expect(['timeout', 'protocol', ...broken]).toContain(await failureAt(kind, drip));
  });

  it('fails when the component resets, talks without end or is something else', async () => {
    const reset = await startTcpPeer((socket) => socket.resetAndDestroy(), 'http');
    expect(['network', 'timeout']).toContain(await failureAt(kind, reset));
    // MongoDB's driver tries again until its time is over.
    const lastly = kind === 'mongodb' ? ['timeout'] : [];
    const chunk = Buffer.alloc(65_536, 'x');
    const endless = await startTcpPeer((socket) => {
      const pour = (): void => {
        while (!socket.destroyed && socket.write(chunk)) {
          // Until the other side is slower.
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

it('leaves no handle behind', async () => {
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
