import type { Socket } from 'node:net';
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { discoveryLimits } from '../../discovery.limits.js';
import type { ServerAddress } from './component-options.js';
import { ProbeError, type ProbeFailure } from '../../model/failures.js';
import { toProbeError } from './probe-failure.js';
import type { ProbeContext } from '../../model/probe.js';
import { openSocket, type TlsTrust } from './open-socket.js';

/**
 * Opens the connections of a driver for one probe. Limits what they receive, because drivers read without limits, and closes them with the
 * probe.
 */
export class ProbeSockets {
  private failure: ProbeError | undefined;

  /** @param isProtocol returns whether the first bytes match the protocol; many drivers wait forever for the rest of a foreign response */
  constructor(
    private readonly context: ProbeContext,
    private readonly isProtocol: (first: Buffer) => boolean,
  ) {}

  /** Opens a connection and watches it. @param tls undefined also if the driver adds TLS later */
  open(address: ServerAddress, tls?: TlsTrust): Socket {
    const socket = openSocket(address, this.context, tls);
    return socket.once('connect', () => this.watch(socket));
  }

  /** Returns the failure to report. A violation seen here takes precedence over the error of the driver. */
  toError(error: unknown, codes?: Readonly<Record<string, ProbeFailure>>): ProbeError {
    return this.failure ?? toProbeError(error, this.context.signal, codes);
  }

  private watch(socket: Socket): void {
    const push = socket.push.bind(socket);
    let bytes = 0;
    // A `data` listener would start the stream before the driver reads it.
    socket.push = (chunk: Buffer | null, ...rest): boolean => {
      if (Buffer.isBuffer(chunk)) {
        if (bytes === 0 && !this.isProtocol(chunk)) {
          return this.refuse(socket, 'protocol');
        }
        bytes += chunk.byteLength;
        if (bytes > discoveryLimits.driverBytes) {
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

/**
 * Loads an optional driver before the first check of its kind.
 * @throws ProbeError `driver` when the package is not installed
 */
export async function loadDriver<T>(packageName: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') {
      throw new ProbeError('driver', packageName);
    }
    throw error;
  }
}

const running = new AsyncLocalStorage<ProbeContext>();

subscribe('net.client.socket', (message) => {
  const { socket } = message as { socket: Socket };
  running.getStore()?.onEnd(() => socket.destroy());
});

/** Runs work of a driver that opens its own sockets. Those without TLS are still closed at the end of the probe. */
export function adoptingSockets<T>(context: ProbeContext, work: () => Promise<T>): Promise<T> {
  return running.run(context, work);
}
