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

/** Opens connections to targets that the policy allows, directly or through the proxy. */
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
    if (proxy === undefined || proxy.bypasses(host, port)) {
      buildConnector({ ...common, lookup: guardedLookup(policy, resolver, port) })(target, callback);
      return;
    }
    void connectThrough(openTunnel(options, proxy, { host, port }), { target, common }, callback);
  };
}

async function connectThrough(
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
    // The tunnel failed, or OpenSSL could not load the certificates.
    socket?.on('error', () => undefined).destroy();
    callback(error as Error, null);
  }
}

/** Maximum number of addresses to try one after another, as a direct connection does. */
const MAX_ADDRESSES = 4;

async function openTunnel(
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

/** Returns the hosts to request from the proxy: checked addresses, or the name, which is checked if local DNS knows it. */
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
  // An isolated network often has no name server that answers, so do not wait long for one.
  const checked = resolution.then(() => undefined);
  await within(connectTimeoutMs / 2, checked, () => undefined).catch((error: unknown) => {
    const failure = toOutboundError(error);
    if (failure.failure !== 'dns' && failure.failure !== 'timeout') {
      throw failure;
    }
  });
  return [target.host];
}

/** Creates an agent for libraries that use `node:http`. It keeps one connection open, which a guarded connector creates. */
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
