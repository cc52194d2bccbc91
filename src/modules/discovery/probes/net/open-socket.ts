import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, rootCertificates, type TLSSocket } from 'node:tls';
import { KEY_AGREEMENT } from '../../../../common/tls/key-agreement.js';
import type { Component } from '../../model/component.types.js';
import { connected } from './read-bytes.js';
import { type ServerAddress, textOption } from './component-options.js';
import type { ProbeContext } from '../../model/probe.js';
import { probeLookup } from './probe-lookup.js';

/** What a TLS connection is checked against. */
export interface TlsTrust {
  /** Authorities to trust, PEM; those of the system without it. */
  ca?: string[];
  /** @default true */
  rejectUnauthorized?: boolean;
}

/**
 * Opens a connection that ends with the probe at the latest. All clients go through here if their driver lets us. So the end of
 * a probe frees the socket, whatever the driver does.
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

/**
 * Begins TLS on an open connection, after whatever the protocol says before. The certificate is there to be read and is not
 * judged.
 * @throws the error of the handshake
 */
export async function beginTls(socket: Socket, host: string, context: ProbeContext): Promise<TLSSocket> {
  const secure = connectTls({ ...tlsOptions(host, { rejectUnauthorized: false }), socket });
  secure.on('error', () => undefined);
  context.onEnd(() => secure.destroy());
  await connected(secure, 'secureConnect');
  return secure;
}

/** Options for `tls.connect` and for drivers that call it. */
export function tlsOptions(host: string, trust: TlsTrust): ConnectionOptions {
  return {
    ...KEY_AGREEMENT,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(trust.ca === undefined ? {} : { ca: trust.ca }),
    rejectUnauthorized: trust.rejectUnauthorized ?? true,
  };
}

/** Options of a component for TLS: `ca`, authorities (PEM) besides the authorities of the system. */
export function tlsTrustOf(component: Component): TlsTrust {
  const ca = textOption(component, 'ca');
  return ca === undefined ? {} : { ca: [...rootCertificates, ca] };
}

/** Whether a component is reached by TLS: by its option `tls` or by one of these schemes. */
export function usesTls(component: Component, scheme: string, schemes: readonly string[]): boolean {
  return component.options['tls'] === true || schemes.includes(scheme);
}
