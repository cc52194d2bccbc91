import { rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { SMTPServer } from 'smtp-server';
import { processFolder, freePort } from '../../../test/support/databases/process-resources.js';
import { startMongodbStub } from '../../../test/support/discovery/mongodb.stub.js';
import { pages, type Peer, startHttpPeer, startTcpPeer } from '../../../test/support/peers/peer.js';
import { OidcIssuer } from '../../../test/support/oidc-issuer.js';
import * as hostile from '../../../test/support/peers/pathologies.js';
import { startScriptedMcp } from '../../../test/support/peers/scripted-mcp.peer.js';

/**
 * Runs a platform in a separate process, so that its resources are not attributed to the service. Started with fork. The first
 * message contains the components as in a configuration file, with keys starting with `good-` for working and `bad-` for failing
 * ones; every received message is answered with the number of open connections.
 */
const HTTP_KINDS = ['http', 'elasticsearch', 'rabbitmq', 'nats', 's3', 'oidc', 'token-endpoint', 'mcp'];
/** Kinds whose check speaks a protocol other than HTTP, with their schemes without and with implicit TLS. */
const SOCKET_KINDS: readonly [kind: string, scheme: string, options?: object][] = [
  ['mysql', 'mysql'],
  ['postgresql', 'postgres'],
  ['redis', 'redis'],
  ['kafka', 'kafka'],
  ['mongodb', 'mongodb'],
  ['smtp', 'smtp'],
];
const TLS_KINDS: typeof SOCKET_KINDS = [
  ['redis', 'rediss'],
  ['kafka', 'kafka', { tls: true }],
  ['mongodb', 'mongodb', { tls: true }],
  ['smtp', 'smtps'],
  ['rabbitmq', 'amqps'],
  ['http', 'https'],
  ['mcp', 'https'],
];
const HTTP_LISTENERS: Record<string, RequestListener> = {
  silent: hostile.neverAnswers,
  'byte-a-second': hostile.dripBody,
  'header-byte-a-second': hostile.dripHeaders,
  resets: hostile.resets,
  'huge-announced': hostile.hugeAnswer(true),
  huge: hostile.hugeAnswer(false),
  'gzip-bomb': hostile.gzipBomb,
  'redirect-loop': hostile.redirectsForEver,
};
const CHUNK = Buffer.alloc(65_536, 'x');
const CONNECTIONS: Record<string, (socket: Socket) => void> = {
  silent: () => undefined,
  'byte-a-second': (socket) => {
    const timer = setInterval(() => socket.write('\n'), 1_000);
    socket.once('close', () => clearInterval(timer));
  },
  resets: (socket) => socket.resetAndDestroy(),
  endless: (socket) => {
    const pour = (): void => {
      while (!socket.destroyed && socket.write(CHUNK)) {
        // Write until the receiver is slower.
      }
    };
    socket.on('drain', pour);
    pour();
  },
  'wrong-protocol': (socket) => socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n'),
};
const CREDENTIALS = { username: 'canary-name', password: 'canary-password' };

const peers: Pick<Peer, 'openSockets'>[] = [];
const declared: DeclaredPeer[] = [];

async function register<T extends Peer>(starting: Promise<T>): Promise<T> {
  const peer = await starting;
  peers.push(peer);
  return peer;
}

/** Starts a peer that reads its input, since without reading it would not notice that the other side has closed. */
function readingPeer(onConnection: (socket: Socket) => void): Promise<Peer> {
  return register(
    startTcpPeer((socket) => {
      socket.resume();
      onConnection(socket);
    }, 'http'),
  );
}

for (const [name, listener] of Object.entries(HTTP_LISTENERS)) {
  const { url } = await register(startHttpPeer(listener));
  for (const kind of HTTP_KINDS) {
    const options = kind === 'http' ? { options: { headers: { 'x-key': 'canary-header' } } } : {};
    declared.push({
      key: `bad-${kind}-${name}`,
      kind,
      endpoint: `${url}${kind}`,
      ...CREDENTIALS,
      ...options,
    });
  }
}
for (const [name, onConnection] of Object.entries(CONNECTIONS)) {
  const { port } = new URL((await readingPeer(onConnection)).url);
  for (const [kind, scheme] of SOCKET_KINDS) {
    declared.push({
      key: `bad-${scheme}-${name}`,
      kind,
      endpoint: `${scheme}://127.0.0.1:${port}`,
      ...CREDENTIALS,
    });
  }
}
const stalled = new URL((await readingPeer(() => undefined)).url).port;
for (const [kind, scheme, options = {}] of TLS_KINDS) {
  const endpoint = `${scheme}://127.0.0.1:${stalled}`;
  declared.push({ key: `bad-${kind}-stalled-tls`, kind, endpoint, ...CREDENTIALS, options });
}

await addHealthy();
process.on('message', () => {
  process.send?.(peers.reduce((sum, peer) => sum + peer.openSockets(), 0));
});
process.send?.(declared);

async function addHealthy(): Promise<void> {
  const web = await register(
    startHttpPeer(
      pages({
        '/health': { body: { status: 'UP', version: '1.0' } },
        '/search/': { body: { version: { number: '8.17.4' } } },
        '/search/_cluster/health': { body: { status: 'green' } },
        '/token': { status: 401, body: { error: 'invalid_client' } },
      }),
    ),
  );
  const mcp = await register(startScriptedMcp({ list: ({ response }) => response.writeHead(500).end() }));
  const connections = { current: 12, active: 5, available: 88 };
  const mongodb = await register(startMongodbStub(() => ({ ok: 1, version: '8.0.4', connections })));
  const issuer = await OidcIssuer.start([]);
  good('http', web.url);
  good('elasticsearch', `${web.url}search`);
  good('token-endpoint', `${web.url}token`);
  good('mcp', mcp.url);
  good('mongodb', mongodb.url.replace(/^http/, 'mongodb'));
  good('oidc', issuer.url);
  good('s3', `http://127.0.0.1:${await startS3()}`, { username: 'S3RVER', password: 'S3RVER' });
  good('smtp', `smtp://127.0.0.1:${await startSmtp()}`);
}

function good(kind: string, endpoint: string, more: Partial<DeclaredPeer> = {}): void {
  declared.push({ key: `good-${kind}`, kind, endpoint, ...more });
}

async function startS3(): Promise<number> {
  const directory = await processFolder(join(tmpdir(), 'svc-s3'));
  process.once('exit', () => void rm(directory, { recursive: true, force: true }));
  const configureBuckets = [{ name: 'one' }];
  const { port } = await new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets,
  }).run();
  return port;
}

async function startSmtp(): Promise<number> {
  const server = new SMTPServer({ hideSTARTTLS: true });
  server.on('error', () => undefined);
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  return port;
}

/** A component as declared in a configuration file (docs/schemas/platform.schema.json). */
export interface DeclaredPeer {
  key: string;
  kind: string;
  endpoint: string;
  username?: string;
  password?: string;
  timeoutMs?: number;
  options?: object;
}
