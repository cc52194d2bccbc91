import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { ProbeContext } from '../../model/probe.js';

const running = new AsyncLocalStorage<ProbeContext>();

subscribe('net.client.socket', (message) => {
  const { socket } = message as { socket: Socket };
  running.getStore()?.onEnd(() => socket.destroy());
});

/**
 * Runs work of a driver that opens its sockets itself and does not give them away. Its sockets without TLS still end with the
 * probe.
 */
export function adoptingSockets<T>(context: ProbeContext, work: () => Promise<T>): Promise<T> {
  return running.run(context, work);
}
