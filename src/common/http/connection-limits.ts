import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Limit } from '../../config/env.js';
import { useOf, type LimitMetrics } from '../metrics/limit-metrics.js';
import { addressKey } from '../rate-limit/address-rate-limit.middleware.js';

/**
 * Ends new connections of a remote address that has as many open ones as it may have. Nothing is read of them, so there is no answer.
 */
export function limitConnections(server: Server, limit: Limit, metrics: LimitMetrics): void {
  const addresses = new Map<string, number>();
  metrics.show(limit, () => useOf(addresses.values()));
  server.on('connection', (socket: Socket) => {
    const key = addressKey(socket.remoteAddress ?? '');
    const count = (addresses.get(key) ?? 0) + 1;
    if (count > limit.most) {
      metrics.refused(limit.name);
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

/** Has Node end new connections, whatever their address, when the server has as many open ones as it may have. */
export function limitAllConnections(server: Server, limit: Limit, metrics: LimitMetrics): void {
  server.maxConnections = limit.most;
  metrics.show(limit, async () => ({
    all: await promisify(server.getConnections.bind(server))(),
  }));
  server.on('drop', () => metrics.refused(limit.name));
}
