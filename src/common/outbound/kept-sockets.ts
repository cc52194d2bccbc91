import type { FarConnections } from './outbound.types.js';
import type { Agent } from 'undici';
import type { TlsMaterial } from '../tls/tls-material.js';
import { OutboundError } from './outbound.error.js';

/**
 * The sockets of one or more operations. Idle ones are closed after some seconds, or when the server says so. All of them are
 * opened with the same certificates, so that nobody goes over a connection that others vouch for.
 */
export class KeptSockets {
  /** @param opening ends the tunnels that are being opened */
  constructor(
    readonly agent: Agent,
    readonly tls: TlsMaterial | undefined,
    private readonly opening: AbortController,
    /** Where connections over TLS are opened instead. @default here */
    readonly far?: FarConnections,
  ) {}

  /** Closes every socket, also those in use. Safe to call twice. */
  async close(): Promise<void> {
    this.opening.abort(new OutboundError('closed'));
    await this.agent.destroy();
  }
}
