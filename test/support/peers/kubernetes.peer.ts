import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TlsCertificate } from './tls-certificate.js';

/** A service as the peer keeps it. */
export interface PeerService {
  name: string;
  namespace: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ports?: Record<string, unknown>[];
}

/** The part of a Kubernetes API server that lists services, over TLS. It answers with pages of two. */
export interface KubernetesPeer {
  port: number;
  /** What it lists; may be changed any time. */
  services: PeerService[];
  /** The token it accepts. */
  token: string;
  /** Namespaces that the account may not list; `*` for all of them at once. */
  forbidden: string[];
  /** Paths with query, in the order they were asked. */
  requests: string[];
  /** Whether it takes requests and never answers. */
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
