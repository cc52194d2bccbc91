import type { Component } from '../../model/component.types.js';
import type { ProbeContext, ProbeWarning } from '../../model/probe.js';
import { certificateWarnings } from './certificate.js';
import { addressesOf, requireOperator } from './component-options.js';
import { openSocket, tlsTrustOf } from './open-socket.js';
import { toProbeError } from './probe-failure.js';
import { connected } from './read-bytes.js';

/** A scheme without an HTTP interface: its port, and whether it speaks TLS from the first byte. */
export interface SocketScheme {
  port: number;
  isTls?: boolean;
}

/**
 * Checks that a component accepts a connection. It sends nothing, so any server at the address passes.
 * @param now milliseconds since the epoch, for the rest of a certificate's life
 * @throws ProbeError
 */
export async function connectionWarnings(
  component: Component,
  context: ProbeContext,
  { port, isTls = false }: SocketScheme,
  now: number,
): Promise<ProbeWarning[]> {
  requireOperator(component);
  const [server] = addressesOf(component, port).servers;
  try {
    const socket = openSocket(server, context, isTls ? tlsTrustOf(component) : undefined);
    await connected(socket, isTls ? 'secureConnect' : 'connect');
    return certificateWarnings(socket, now);
  } catch (error) {
    throw toProbeError(error, context.signal);
  }
}
