import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ServerAddress } from './component-options.js';
import { ProbeError, type ProbeFailure } from '../../model/probe.error.js';
import { toProbeError } from './probe-failure.js';
import type { ProbeContext, ProbeWarning } from '../../model/probe.js';
import { endWarnings } from './certificate.js';
import { openSocket, type TlsTrust } from './open-socket.js';

/** What the connections of one probe may bring. */
export interface ProbeSocketLimits {
  context: ProbeContext;
  /** Bytes over one connection. */
  maxBytes: number;
  /** Whether the first bytes can be of the protocol; many drivers wait for ever for the rest of a foreign answer. */
  isProtocol: (first: Buffer) => boolean;
}

/** The connections of one probe by a driver. They are watched, because drivers read without bounds, and freed with the probe. */
export class ProbeSockets {
  private failure: ProbeError | undefined;
  private validTo: string | undefined;

  constructor(private readonly limits: ProbeSocketLimits) {}

  /**
   * Opens a connection and watches what it brings.
   * @param tls undefined for a plain connection, and for one whose driver adds TLS by itself later
   */
  open(address: ServerAddress, tls?: TlsTrust): Socket {
    const socket = openSocket(address, this.limits.context, tls);
    socket.once('connect', () => this.watch(socket));
    socket.once('secureConnect', () => {
      this.validTo ??= (socket as TLSSocket).getPeerCertificate().valid_to;
    });
    return socket;
  }

  /** The failure to report. The watch counts more than the error of the driver. */
  toError(error: unknown, codes: Readonly<Record<string, ProbeFailure>>): ProbeError {
    return this.failure ?? toProbeError(error, this.limits.context.signal, codes);
  }

  /** Warns when the first certificate that was seen ends soon, of connections opened with TLS. */
  certificateWarnings(now: number): ProbeWarning[] {
    return endWarnings(this.validTo, now);
  }

  private watch(socket: Socket): void {
    const { maxBytes, isProtocol } = this.limits;
    const push = socket.push.bind(socket);
    let bytes = 0;
    // A `data` listener would set the stream flowing before the driver reads it.
    socket.push = (chunk: Buffer | null, ...rest): boolean => {
      if (Buffer.isBuffer(chunk)) {
        if (bytes === 0 && !isProtocol(chunk)) {
          return this.refuse(socket, 'protocol');
        }
        bytes += chunk.byteLength;
        if (bytes > maxBytes) {
          return this.refuse(socket, 'too_large');
        }
      }
      return push(chunk, ...rest);
    };
  }

  private refuse(socket: Socket, failure: ProbeFailure): false {
    this.failure ??= new ProbeError(failure);
    socket.destroy(this.failure);
    return false;
  }
}
