import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { Clock } from '../../../../src/common/clock.js';
import { ElasticsearchProbe } from '../../../../src/modules/discovery/probes/kinds/elasticsearch.probe.js';
import { HttpProbe } from '../../../../src/modules/discovery/probes/kinds/http.probe.js';
import { KafkaProbe } from '../../../../src/modules/discovery/probes/kinds/kafka.probe.js';
import { McpProbe } from '../../../../src/modules/discovery/probes/kinds/mcp.probe.js';
import { MongodbProbe } from '../../../../src/modules/discovery/probes/kinds/mongodb.probe.js';
import { MysqlProbe } from '../../../../src/modules/discovery/probes/kinds/mysql.probe.js';
import { NatsProbe } from '../../../../src/modules/discovery/probes/kinds/nats.probe.js';
import { OidcProbe } from '../../../../src/modules/discovery/probes/kinds/oidc.probe.js';
import { PostgresqlProbe } from '../../../../src/modules/discovery/probes/kinds/postgresql.probe.js';
import { ProbeError } from '../../../../src/modules/discovery/model/failures.js';
import type { Probe } from '../../../../src/modules/discovery/model/probe.js';
import { RabbitmqProbe } from '../../../../src/modules/discovery/probes/kinds/rabbitmq.probe.js';
import { RedisProbe } from '../../../../src/modules/discovery/probes/kinds/redis.probe.js';
import { S3Probe } from '../../../../src/modules/discovery/probes/kinds/s3.probe.js';
import { SmtpProbe } from '../../../../src/modules/discovery/probes/kinds/smtp.probe.js';
import { TokenEndpointProbe } from '../../../../src/modules/discovery/probes/kinds/token-endpoint.probe.js';
import { component, probeHttp, runProbe } from '../../../support/discovery/run-probe.js';
import { connectionService, stopServices } from '../../../support/peers/connection-tests.js';
import * as hostile from '../../../support/peers/pathologies.js';
import {
  noSocketsLeft,
  type Peer,
  startHttpPeer,
  startTcpPeer as startRawPeer,
} from '../../../support/peers/peer.js';

const CANARY = 'canary-3f1c9a';
const DEADLINE_MS = 400;
/** Only tells a hang from an end in time, on a machine that does other work too. */
const LATE_MS = 30_000;
const clock = new Clock();
const http = probeHttp();
const mcp = new McpProbe(http, connectionService());
afterAll(stopServices);

const HTTP_PROBES: Probe[] = [
  new HttpProbe(http),
  new ElasticsearchProbe(http),
  new RabbitmqProbe(http, clock),
  new NatsProbe(http, clock),
  new S3Probe(http, clock),
  new OidcProbe(http),
  new TokenEndpointProbe(http),
  mcp,
];
const SOCKET_PROBES: [Probe, scheme: string][] = [
  [new MysqlProbe(clock), 'mysql'],
  [new PostgresqlProbe(clock), 'postgresql'],
  [new RedisProbe(clock), 'redis'],
  [new KafkaProbe(clock), 'kafka'],
  [new MongodbProbe(new Clock()), 'mongodb'],
  [new SmtpProbe(clock), 'smtp'],
];

/** A peer that reads: one that does not never learns that the other side has gone. */
function startTcpPeer(onConnection: (socket: Socket) => void, scheme: 'http' | 'https'): Promise<Peer> {
  return startRawPeer((socket) => {
    socket.resume();
    onConnection(socket);
  }, scheme);
}

/** Runs a probe at a hostile peer: it fails in time, leaves no socket and tells no secret. */
async function failureAt(
  probe: Probe,
  peer: Peer,
  scheme?: string,
  trust: 'operator' | 'registered' = 'operator',
) {
  const url = scheme === undefined ? peer.url : peer.url.replace(/^https?/, scheme).replace(/\/$/, '');
  const target = component(probe.kind, url, {
    credentials: { username: CANARY, password: CANARY },
    options: { headers: { 'x-key': CANARY } },
    trust,
  });
  const startedAt = performance.now();
  const error: unknown = await runProbe(probe, target, DEADLINE_MS).catch((thrown: unknown) => thrown);
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

describe.each(HTTP_PROBES.map((probe) => [probe.kind, probe] as const))(
  'the probe of %s over HTTP',
  (_kind, probe) => {
    it.each(HTTP_CASES)('fails in time when the component %s', async (_name, listener, failures) => {
      expect(failures).toContain(await failureAt(probe, await startHttpPeer(listener)));
    });

    it('fails when the component speaks another protocol or stalls in TLS', async () => {
      expect(
        await failureAt(
          probe,
          await startTcpPeer((socket) => socket.end('\u0000\u0001 garbage \r\n\r\n'), 'http'),
        ),
      ).toBe('protocol');
      expect(
        await failureAt(probe, await startTcpPeer((socket) => socket.end('no TLS record\r\n\r\n'), 'https')),
      ).toBe('tls');
      expect(await failureAt(probe, await startTcpPeer(() => undefined, 'https'))).toBe('timeout');
    });
  },
);

describe('a component that callers named', () => {
  it.each(HTTP_CASES.filter(([name]) => !name.includes('gzip')))(
    'fails in time when it %s',
    async (_name, listener, failures) => {
      const probe = new TokenEndpointProbe(http);
      const peer = await startHttpPeer(listener);
      expect(failures).toContain(await failureAt(probe, peer, undefined, 'registered'));
    },
  );

  it('is not called where the address policy forbids', async () => {
    const strict = probeHttp({});
    const target = component('http', 'http://169.254.169.254/', { trust: 'registered' });
    await expect(runProbe(new HttpProbe(strict), target)).rejects.toMatchObject({ failure: 'blocked' });
    await expect(runProbe(mcp, { ...target, kind: 'mcp' })).rejects.toMatchObject({ failure: 'blocked' });
    const socket = component('redis', 'redis://127.0.0.1:1', { trust: 'registered' });
    await expect(runProbe(new RedisProbe(clock), socket)).rejects.toMatchObject({ failure: 'blocked' });
  });
});

describe.each(SOCKET_PROBES.map(([probe, scheme]) => [scheme, probe] as const))(
  'the probe of %s',
  (scheme, probe) => {
    it('fails in time when the component says nothing or drips', async () => {
      expect(await failureAt(probe, await startTcpPeer(() => undefined, 'http'), scheme)).toBe('timeout');
      const drip = await startTcpPeer((socket) => {
        const timer = setInterval(() => socket.write('\n'), 200);
        socket.once('close', () => clearInterval(timer));
      }, 'http');
      const broken = scheme === 'mongodb' ? ['network'] : [];
      expect(['timeout', 'protocol', ...broken]).toContain(await failureAt(probe, drip, scheme));
    });

    it('fails when the component resets, talks without end or is something else', async () => {
      const reset = await startTcpPeer((socket) => socket.resetAndDestroy(), 'http');
      expect(['network', 'timeout']).toContain(await failureAt(probe, reset, scheme));
      // MongoDB's driver tries again until its time is over.
      const lastly = scheme === 'mongodb' ? ['timeout'] : [];
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
      expect(['too_large', 'protocol', 'network', ...lastly]).toContain(
        await failureAt(probe, endless, scheme),
      );
      const web = await startTcpPeer((socket) => {
        socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
      }, 'http');
      expect(['protocol', 'network', ...lastly]).toContain(await failureAt(probe, web, scheme));
    });
  },
);

it('leaves no handle behind', async () => {
  const silent = await startTcpPeer(() => undefined, 'http');
  const handles = (): number =>
    process.getActiveResourcesInfo().filter((name) => /TCP|TLS|Timeout/.test(name)).length;
  const before = handles();
  for (const [probe, scheme] of SOCKET_PROBES) {
    const target = component(probe.kind, silent.url.replace(/^http/, scheme).replace(/\/$/, ''));
    await runProbe(probe, target, 100).catch(() => undefined);
  }
  await noSocketsLeft(silent);
  await expect.poll(handles).toBeLessThanOrEqual(before);
  await silent.close();
});
