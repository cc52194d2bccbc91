import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressKey } from '../rate-limit/address-rate-limit.middleware.js';

/**
 * Ends new connections of a remote address that has `most` open ones. Nothing is read of them, so there is no answer.
 * @param refused called for each
 */
export function limitConnections(server: Server, most: number, refused: () => void): void {
  const addresses = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const key = addressKey(socket.remoteAddress ?? '');
    const count = (addresses.get(key) ?? 0) + 1;
    if (count > most) {
      refused();
      socket.destroy();
      return;
    }
    addresses.set(key, count);
    socket.once('close', () => {
      const left = (addresses.get(key) ?? 0) - 1;
      if (left > 0) {
        addresses.set(key, left);
      } else {
        addresses.delete(key);
      }
    });
  });
}
