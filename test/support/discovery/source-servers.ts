import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { promises as dns } from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';
import { unpackedProgram } from '../databases/debian-package.js';
import { freePort } from '../databases/process-resources.js';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TlsCertificate } from '../peers/certificates.js';

const START_TIMEOUT_MS = 20_000;
const PAUSE_MS = 50;

/** A DNS server on loopback. */
export interface Dnsmasq {
  /** Address and port. */
  address: string;
  stop(): Promise<void>;
}

/**
 * Starts dnsmasq with only these records.
 * @param records options such as `--srv-host=…` and `--txt-record=…`
 * @param wanted port. @default a free one
 * @throws Error when the program is not available
 */
export async function startDnsmasq(records: string[], wanted?: number): Promise<Dnsmasq> {
  const { command } = await unpackedProgram('bookworm', 'dnsmasq-base', '/usr/sbin/dnsmasq');
  const port = wanted ?? (await freePort());
  const [file, ...args] = command;
  const own = [
    '--no-daemon',
    '--conf-file=/dev/null',
    '--no-resolv',
    '--no-hosts',
    '--no-poll',
    '--bind-interfaces',
  ];
  const place = ['--listen-address=127.0.0.1', `--port=${port}`, '--user=', '--group=', '--pid-file='];
  const child = spawn(file, [...args, ...own, ...place, '--local=/test/', ...records], { stdio: 'ignore' });
  const onExit = (): void => void child.kill('SIGKILL');
  process.once('exit', onExit);
  const gone = once(child, 'exit');
  const address = `127.0.0.1:${port}`;
  await untilItAnswers(address, () => child.exitCode !== null);
  return {
    address,
    stop: async () => {
      child.kill('SIGKILL');
      await gone;
      process.removeListener('exit', onExit);
    },
  };
}

async function untilItAnswers(address: string, hasEnded: () => boolean): Promise<void> {
  const resolver = new dns.Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([address]);
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await isAnswered(resolver))) {
    if (hasEnded() || Date.now() > deadline) {
      throw new Error('dnsmasq did not start');
    }
    await sleep(PAUSE_MS);
  }
}

async function isAnswered(resolver: dns.Resolver): Promise<boolean> {
  try {
    await resolver.resolveTxt('ready.test');
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'ENOTFOUND';
  }
}

/** A Kubernetes service as the peer stores it. */
export interface PeerService {
  name: string;
  namespace: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ports?: Record<string, unknown>[];
}

/** A Kubernetes API server over TLS that can only list services, in pages of two. */
export interface KubernetesPeer {
  port: number;
  /** Services to list; may be changed at any time. */
  services: PeerService[];
  /** The token it accepts. */
  token: string;
  /** Namespaces that the account may not list; `*` is the list across all namespaces. */
  forbidden: string[];
  /** Paths with query of the received requests, in order. */
  requests: string[];
  /** Whether it accepts requests but never answers. */
  isSilent: boolean;
  openSockets(): number;
  close(): Promise<void>;
  /** Listens again on the same port after `close`. */
  reopen(): Promise<void>;
}

const PAGE = 2;

export async function startKubernetesPeer(certificate: TlsCertificate): Promise<KubernetesPeer> {
  const sockets = new Set<Socket>();
  const server = createServer(certificate, (request, response) => {
    peer.requests.push(request.url ?? '');
    if (peer.isSilent) {
      return;
    }
    const { status, body } = answer(peer, request.url ?? '', request.headers.authorization);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  const peer: KubernetesPeer = {
    port: 0,
    services: [],
    token: 'first-token',
    forbidden: [],
    requests: [],
    isSilent: false,
    openSockets: () => sockets.size,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      sockets.forEach((socket) => socket.destroy());
      await closed;
    },
    reopen: () => listen(peer.port),
  };
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => {
      server.listen(port, '127.0.0.1', () => resolve());
    });
  await listen(0);
  peer.port = (server.address() as AddressInfo).port;
  return peer;
}

function answer(peer: KubernetesPeer, address: string, authorization: string | undefined) {
  const url = new URL(address, 'https://peer');
  const match = /^\/api\/v1\/(?:namespaces\/([^/]+)\/)?services$/.exec(url.pathname);
  if (authorization !== `Bearer ${peer.token}`) {
    return status(401, 'Unauthorized', 'Unauthorized');
  }
  if (match === null) {
    return status(404, 'NotFound', 'the server could not find the requested resource');
  }
  const namespace = match[1] ?? '*';
  if (peer.forbidden.includes(namespace)) {
    const text = `services is forbidden: User "system:serviceaccount:svc:CANARY" cannot list resource "services"`;
    return status(403, 'Forbidden', text);
  }
  return { status: 200, body: page(peer, namespace, url.searchParams) };
}

function page(peer: KubernetesPeer, namespace: string, query: URLSearchParams) {
  const [label = '', value] = (query.get('labelSelector') ?? '').split('=');
  const all = peer.services.filter(
    (service) => (namespace === '*' || service.namespace === namespace) && service.labels?.[label] === value,
  );
  const start = Number(query.get('continue') ?? 0);
  const end = start + Math.min(PAGE, Number(query.get('limit')));
  return {
    kind: 'ServiceList',
    apiVersion: 'v1',
    metadata: {
      resourceVersion: '1',
      ...(end < all.length ? { continue: String(end), remainingItemCount: all.length - end } : {}),
    },
    items: all.slice(start, end).map(({ ports, ...metadata }) => ({
      metadata: { uid: 'u', ...metadata },
      spec: { type: 'ClusterIP', ...(ports === undefined ? {} : { ports }) },
      status: { loadBalancer: {} },
    })),
  };
}

function status(code: number, reason: string, message: string) {
  return {
    status: code,
    body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code },
  };
}
