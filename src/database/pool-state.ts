import type { DataSource } from 'typeorm';

/** How busy a pool is: connections lent and idle, and borrowers in the queue. */
export interface PoolState {
  used: number;
  idle: number;
  waiting: number;
}

/** What the pool of mysql2 keeps; it offers no other way to see it. */
interface PoolInternals {
  _allConnections?: { length: number };
  _freeConnections?: { length: number };
  _connectionQueue?: { length: number };
}

/** The state of the connection pool; undefined for the embedded file, which has none. */
export function poolState(dataSource: DataSource): PoolState | undefined {
  const { pool } = dataSource.driver as { pool?: PoolInternals };
  const { _allConnections: all, _freeConnections: free, _connectionQueue: queue } = pool ?? {};
  return all && free && queue
    ? { used: all.length - free.length, idle: free.length, waiting: queue.length }
    : undefined;
}
