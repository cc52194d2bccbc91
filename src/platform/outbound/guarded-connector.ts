import { isIP, isIPv6, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { KEY_AGREEMENT, type TlsMaterial } from '../tls/tls-material.js';
import { within } from '../concurrency/deadline.js';
import { type AddressPolicy, hostOf, portOf } from './address-policy.js';
import { checkedAddresses, guardedLookup, type Resolver } from './guarded-lookup.js';
import type { OutboundProxy } from './outbound-proxy.js';
import { OutboundError, toOutboundError } from './outbound.error.js';

interface ConnectorOptions {
  policy: AddressPolicy;
  resolver: Resolver;
  connectTimeoutMs: number;
  proxy: OutboundProxy | undefined;
  tls: TlsMaterial | undefined;
  ends: AbortSignal;
}

/** Opens connections to targets that the policy lets through: directly, or through the proxy. */
export function guardedConnector(options: ConnectorOptions): buildConnector.connector {
  const { policy, resolver, connectTimeoutMs, proxy, tls } = options;
  const common = { ...KEY_AGREEMENT, ...tls, timeout: connectTimeoutMs, allowH2: false };
  return (target, callback) => {
    const url = new URL(`${target.protocol}//${target.host ?? target.hostname}`);
    const [host, port] = [hostOf(url), portOf(url)];
    try {
      policy.checkUrl(url);
    } catch (error) {
      callback(error as Error, null);
      return;
    }
    if (proxy === undefined || proxy.leavesOut(host, port)) {
      buildConnector({ ...common, lookup: guardedLookup(policy, resolver, port) })(target, callback);
      return;
    }
    void overTunnel(tunnelled(options, proxy, { host, port }), { target, common }, callback);
  };
}

async function overTunnel(
  tunnel: Promise<Socket>,
  { target, common }: { target: buildConnector.Options; common: buildConnector.BuildOptions },
  callback: buildConnector.Callback,
): Promise<void> {
  let socket: Socket | undefined;
  try {
    socket = await tunnel;
    if (target.protocol === 'https:') {
      buildConnector(common)({ ...target, httpSocket: socket }, callback);
    } else {
      callback(null, socket);
    }
  } catch (error) {
    // There is no tunnel, or OpenSSL does not load the certificates.
    socket?.on('error', () => undefined).destroy();
    callback(error as Error, null);
  }
}

/** Addresses that are tried one after the other, as a direct connection does. */
const MAX_ADDRESSES = 4;

async function tunnelled(
  options: ConnectorOptions,
  proxy: OutboundProxy,
  target: { host: string; port: number },
): Promise<Socket> {
  const { connectTimeoutMs, ends } = options;
  const hosts = await proxiedHosts(options, proxy, target);
  for (const [index, host] of hosts.entries()) {
    try {
      const name = host.includes(':') ? `[${host}]` : host;
      return await proxy.tunnel(`${name}:${target.port}`, connectTimeoutMs, ends);
    } catch (error) {
      const isRefusal = error instanceof OutboundError && error.failure === 'proxy_refused';
      if (!isRefusal || index === hosts.length - 1) {
        throw error;
      }
    }
  }
  throw new OutboundError('dns');
}

/** What the proxy is asked for: addresses that were judged, or the name, whose addresses were judged where DNS knows them here. */
async function proxiedHosts(
  { policy, resolver, connectTimeoutMs }: ConnectorOptions,
  proxy: OutboundProxy,
  target: { host: string; port: number },
): Promise<string[]> {
  if (isIP(target.host) !== 0) {
    return [target.host];
  }
  const resolution = checkedAddresses(policy, resolver, target);
  if (proxy.target === 'address') {
    return (await resolution).slice(0, MAX_ADDRESSES).map(({ address }) => address);
  }
  // A network without a way out often has no name server that answers: the proxy is not kept waiting for one.
  const judged = resolution.then(() => undefined);
  await within(connectTimeoutMs / 2, judged, () => undefined).catch((error: unknown) => {
    const failure = toOutboundError(error);
    if (failure.failure !== 'dns' && failure.failure !== 'timeout') {
      throw failure;
    }
  });
  return [target.host];
}

/** An agent for libraries that send requests by `node:http`. It keeps one connection open, from a guarded connector. */
export function guardedAgent(protocol: string, connect: buildConnector.connector): HttpAgent {
  const agent = new (protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = ({ host, port, servername }: ConnectionTarget, done) => {
    const name = isIPv6(host) ? `[${host}]` : host;
    const target = { protocol, hostname: host, host: `${name}:${port}`, port: String(port) };
    connect({ ...target, ...(servername ? { servername } : {}) }, (error, socket) =>
      done?.(error, socket as never),
    );
    return undefined;
  };
  return agent;
}

interface ConnectionTarget {
  host: string;
  port: number;
  servername?: string;
}
