import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type ConnectionOptions, rootCertificates, TLSSocket } from 'node:tls';
import { KEY_AGREEMENT } from '../../../platform/tls/tls-material.js';
import type { Component } from '../../model/component.types.js';
import { addressesOf, type ServerAddress } from './component-options.js';
import type { ProbeContext } from '../../model/probe.js';
import { boundedResolver, lookupBy, systemResolver } from '../../../platform/outbound/guarded-lookup.js';
import { ProbeError } from '../../model/failures.js';
import { warnOfCertificate } from './warnings.js';
import { toProbeError } from './probe-failure.js';

/** Trust settings of a TLS connection. */
export interface TlsTrust {
  /** Trusted authorities (PEM). Default: those of the system. */
  ca?: string[];
  /** @default true */
  rejectUnauthorized?: boolean;
}

/**
 * Opens a connection that is closed at the end of the probe at the latest, even if the driver keeps it. Warns when its certificate expires
 * soon.
 * @param tls undefined for a plain connection
 * @returns the socket before it is connected; errors arrive as its `error` event
 */
export function openSocket({ host, port }: ServerAddress, context: ProbeContext, tls?: TlsTrust): Socket {
  const socket =
    tls === undefined
      ? connectTcp({ host, port, lookup: probeLookup, noDelay: true })
      : connectTls({ ...tlsOptions(host, tls), host, port, lookup: probeLookup });
  if (context.signal.aborted) {
    socket.destroy();
  }
  return supervised(socket, context);
}

/** Starts TLS on an open connection without verifying the certificate. @throws the error of the handshake */
export async function beginTls(socket: Socket, host: string, context: ProbeContext): Promise<TLSSocket> {
  const options = { ...tlsOptions(host, { rejectUnauthorized: false }), socket };
  const secure = supervised(connectTls(options), context);
  await connected(secure);
  return secure;
}

function supervised<Any extends Socket>(socket: Any, context: ProbeContext): Any {
  // Without a listener an error after the driver has released the socket would end the process.
  socket.on('error', () => undefined);
  socket.once('secureConnect', () => warnOfSocket(socket, context));
  context.onEnd(() => socket.destroy());
  return socket;
}

/** Warns when the certificate of a connection expires soon, for drivers that add TLS to a socket. */
export function warnOfSocket(socket: Duplex, context: ProbeContext): void {
  warnOfCertificate(socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : undefined, context);
}

/** Returns options for `tls.connect` and for drivers that call it. */
export function tlsOptions(host: string, trust: TlsTrust): ConnectionOptions {
  return {
    ...KEY_AGREEMENT,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(trust.ca === undefined ? {} : { ca: trust.ca }),
    rejectUnauthorized: trust.rejectUnauthorized ?? true,
  };
}

/** Returns the TLS trust of a component: authorities of its option `ca` (PEM) in addition to those of the system. */
export function tlsTrustOf(component: Component): TlsTrust {
  const { ca } = component.options;
  return ca === undefined ? {} : { ca: [...rootCertificates, ca] };
}

/** Returns whether a component uses TLS, by its option `tls` or by its scheme. */
export function usesTls(component: Component, scheme: string): boolean {
  return component.options.tls === true || scheme === 'rediss' || scheme === 'valkeys';
}

/** Half of libuv's threads, so that the other half stays free even if many names do not resolve. */
const LOOKUPS = 2;
const MAX_WAIT_MS = 10_000;

/** Resolves the host names of all probes of this process, two concurrently. */
export const probeLookup = lookupBy(boundedResolver(systemResolver, LOOKUPS, MAX_WAIT_MS));

const MAX_BYTES = 65_536;

/**
 * Reads from a socket until `parse` returns a value for all bytes received so far.
 * @param parse returns undefined when more bytes are needed
 * @throws ProbeError `too_large` after 64 KiB, `network` when the other side ends; the error of the socket; what `parse` throws
 */
export function readUntil<T>(socket: Socket, parse: (bytes: Buffer) => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const settle = (finish: () => void): void => {
      socket.off('data', onData).off('error', onError).off('close', onClose).pause();
      finish();
    };
    const onError = (error: Error): void => settle(() => reject(error));
    const onClose = (): void => settle(() => reject(new ProbeError('network')));
    const onData = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      try {
        const found = parse(bytes);
        if (found !== undefined) {
          settle(() => resolve(found));
        } else if (bytes.byteLength > MAX_BYTES) {
          settle(() => reject(new ProbeError('too_large')));
        }
      } catch (error) {
        settle(() => reject(error));
      }
    };
    // Adding a listener does not resume a socket that an earlier reader has paused.
    socket.on('error', onError).on('close', onClose).on('data', onData).resume();
  });
}

/** Resolves when a socket is connected, including TLS if used. */
export function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject).once('close', () => reject(new ProbeError('network')));
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => resolve());
  });
}

/**
 * Checks that a component without an HTTP API accepts a connection, without sending anything.
 * @param isTls whether it uses TLS from the first byte
 * @throws ProbeError
 */
export async function connectOnly(
  component: Component,
  context: ProbeContext,
  port: number,
  isTls = false,
): Promise<void> {
  const [server] = addressesOf(component, port).servers;
  try {
    await connected(openSocket(server, context, isTls ? tlsTrustOf(component) : undefined));
  } catch (error) {
    throw toProbeError(error, context.signal);
  }
}
