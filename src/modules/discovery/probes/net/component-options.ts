import type { Component } from '../../model/component.types.js';
import { isRecord } from './json-values.js';
import { ProbeError } from '../../model/probe.error.js';

/** An optional text of the options of a component. @throws ProbeError `configuration` when it is something else */
export function textOption(component: Component, name: string): string | undefined {
  const value = component.options[name];
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value !== 'string' || value === '') {
    throw new ProbeError('configuration');
  }
  return value;
}

/** Names and values of an option, such as `headers`; none when it is absent. @throws ProbeError `configuration` */
export function textsOption(component: Component, name: string): Record<string, string> {
  const value = component.options[name] ?? {};
  if (!isRecord(value) || !Object.values(value).every((entry) => typeof entry === 'string')) {
    throw new ProbeError('configuration');
  }
  return value as Record<string, string>;
}

/** An optional whole number from 1 of the options. @throws ProbeError `configuration` */
export function countOption(component: Component, name: string): number | undefined {
  const value = component.options[name];
  if (value !== undefined && !(Number.isInteger(value) && Number(value) > 0)) {
    throw new ProbeError('configuration');
  }
  return value as number | undefined;
}

/** The endpoint as a URL. @throws ProbeError `configuration`; the error of `new URL` would quote the text */
export function urlOf(text: string): URL {
  if (!URL.canParse(text)) {
    throw new ProbeError('configuration');
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    throw new ProbeError('configuration');
  }
  return url;
}

/** Host and port of one server of a component. */
export interface ServerAddress {
  host: string;
  port: number;
}

/** The addresses of an endpoint with their scheme, which the first one names. */
export interface ServerAddresses {
  /** Without the colon; empty when none is given. */
  scheme: string;
  /** Path of the first address without the leading slash: a database name. */
  path: string;
  servers: [ServerAddress, ...ServerAddress[]];
}

const ADDRESS = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\[[^\]]+\]|[^/:[\]@?#]+)(?::(\d{1,5}))?(?:\/([^?#@]*))?$/i;

/**
 * Reads `scheme://host:port/path` or several of these separated by commas (`kafka://a:9092,b:9092`).
 * @throws ProbeError `configuration`
 */
export function addressesOf(component: Component, defaultPort: number): ServerAddresses {
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

/** Drivers dial every address. Addresses of callers of the API are reached by HTTP and its address policy only. */
export function requireOperator(component: Component): void {
  if (component.trust !== 'operator') {
    throw new ProbeError('blocked');
  }
}
