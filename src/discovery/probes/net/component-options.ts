import type { Component } from '../../model/component.types.js';
import { ProbeError } from '../../model/failures.js';

/** Host and port of a server of a component. */
export interface ServerAddress {
  host: string;
  port: number;
}

/** The addresses of an endpoint, with the scheme of the first one. */
export interface ServerAddresses {
  /** Scheme without colon; empty if none is given. */
  scheme: string;
  /** Path of the first address without the leading slash: a database name. */
  path: string;
  servers: [ServerAddress, ...ServerAddress[]];
}

const ADDRESS = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\[[^\]]+\]|[^/:[\]@?#]+)(?::(\d{1,5}))?(?:\/([^?#@]*))?$/i;

/**
 * Parses `scheme://host:port/path`, or several addresses separated by commas (`kafka://a:9092,b:9092`).
 * @throws ProbeError `configuration`; `blocked` for an address registered by a caller of the API: drivers connect to any address, so those
 * are reachable only by HTTP under its address policy
 */
export function addressesOf(component: Component, defaultPort: number): ServerAddresses {
  if (component.trust !== 'operator') {
    throw new ProbeError('blocked');
  }
  const [first, ...others] = component.endpoint.split(',').map((text) => addressOf(text, defaultPort));
  if (first === undefined) {
    throw new ProbeError('configuration');
  }
  const { scheme, path } = first;
  return { scheme, path, servers: [first.server, ...others.map(({ server }) => server)] };
}

function addressOf(text: string, defaultPort: number) {
  const match = ADDRESS.exec(text.trim());
  const port = Number(match?.[3] ?? defaultPort);
  if (match?.[2] === undefined || port < 1 || port > 65_535) {
    throw new ProbeError('configuration');
  }
  const host = match[2].replace(/^\[(.*)\]$/, '$1');
  return { scheme: (match[1] ?? '').toLowerCase(), path: match[4] ?? '', server: { host, port } };
}
