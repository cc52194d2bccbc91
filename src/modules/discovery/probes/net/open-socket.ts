import { readFile } from 'node:fs/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { Component } from '../../component.types.js';
import { type ServerAddress, textOption } from '../component-options.js';
import { ProbeError } from '../probe.error.js';
import type { ProbeContext } from '../probe.js';
import { probeLookup } from './probe-lookup.js';

/** What a TLS connection is checked against. */
export interface TlsTrust {
  /** PEM of the authorities to trust instead of the usual ones. */
  ca?: string;
  /** @default true */
  rejectUnauthorized?: boolean;
}

/**
 * Opens a connection that ends with the probe at the latest. All clients whose driver lets us go through here, so that
 * the end of a probe frees the socket whatever the driver thinks of it.
 *
 * @param tls undefined for a plain connection
 * @returns the socket before it is connected; errors arrive as its `error` event
 */
export function openSocket({ host, port }: ServerAddress, context: ProbeContext, tls?: TlsTrust): Socket {
  const socket =
    tls === undefined
      ? connectTcp({ host, port, lookup: probeLookup, noDelay: true })
      : connectTls({ ...tlsOptions(host, tls), host, port, lookup: probeLookup });
  // Without a listener an error after the driver has let go would end the process.
  socket.on('error', () => undefined);
  context.onEnd(() => socket.destroy());
  if (context.signal.aborted) {
    socket.destroy();
  }
  return socket;
}

/** Options for `tls.connect` and for drivers that call it. */
export function tlsOptions(host: string, trust: TlsTrust): ConnectionOptions {
  return {
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(trust.ca === undefined ? {} : { ca: trust.ca }),
    rejectUnauthorized: trust.rejectUnauthorized ?? true,
  };
}

/**
 * The authorities of the option `caFile`, read anew because certificates are renewed in place.
 * @throws ProbeError `configuration` when the file cannot be read
 */
export async function tlsTrustOf(component: Component): Promise<TlsTrust> {
  const file = textOption(component, 'caFile');
  if (file === undefined) {
    return {};
  }
  try {
    return { ca: await readFile(file, 'utf8') };
  } catch {
    throw new ProbeError('configuration');
  }
}
