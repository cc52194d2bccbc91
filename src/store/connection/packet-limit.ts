import type { PoolConnection } from 'mysql2';

/** Bytes that a UTF-16 unit can take: in UTF-8, and escaped within a statement. */
const UNIT_BYTES = 3;
const ESCAPED_UNIT_BYTES = 2 * UNIT_BYTES;
/** Bytes that a number, a time or NULL takes at most, and the quotes of a text. */
const SHORT_VALUE_BYTES = 64;
/** The packet type and a byte that the server reserves. */
const OVERHEAD_BYTES = 2;

type Callback = (error: Error) => void;

/**
 * Rejects statements that exceed the server's packet limit. The server would close the connection while the driver still
 * writes, which looks like an outage, so the statement would be sent again and again.
 */
export class PacketLimit {
  /** Limit that a server reported last. It applies to new connections until they have reported their own. */
  private lastKnown = Number.POSITIVE_INFINITY;

  /** Asks the server of a new connection for its limit, and checks every statement sent over it from now on. */
  watch(connection: PoolConnection): void {
    let limit: number | undefined;
    connection.query('SELECT @@max_allowed_packet AS bytes', (error, rows) => {
      const bytes = error === null ? Number((rows as { bytes: unknown }[])[0]?.bytes) : Number.NaN;
      if (bytes > 0) {
        limit = bytes;
        this.lastKnown = bytes;
      }
    });
    const check = (name: 'query' | 'execute', bytesOf: (sql: string, values: unknown[]) => number): void => {
      const send = connection[name].bind(connection) as (...args: unknown[]) => unknown;
      connection[name] = ((...args: unknown[]) => {
        const [sql, values] = args as [string, unknown];
        const callback = args.at(-1);
        const most = (limit ?? this.lastKnown) - OVERHEAD_BYTES;
        const list = Array.isArray(values) ? (values as unknown[]) : [];
        // Most statements are so short that an upper bound is enough.
        if (typeof callback !== 'function' || upperBound(sql, list) <= most || bytesOf(sql, list) <= most) {
          return send(...args);
        }
        queueMicrotask(() => (callback as Callback)(tooLarge()));
        return undefined;
      }) as never;
    };
    check('query', (sql, values) => Buffer.byteLength(connection.format(sql, values)));
    check('execute', (sql, values) => sum([sql, ...values], sentBytes));
  }
}

function upperBound(sql: string, values: readonly unknown[]): number {
  return UNIT_BYTES * sql.length + sum(values, mostBytes);
}

function mostBytes(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) {
    return ESCAPED_UNIT_BYTES * value.length + SHORT_VALUE_BYTES;
  }
  return typeof value !== 'object' || value === null || value instanceof Date
    ? SHORT_VALUE_BYTES
    : Number.POSITIVE_INFINITY;
}

function sentBytes(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? Buffer.byteLength(value) : 0;
}

function sum<Part>(parts: readonly Part[], size: (part: Part) => number): number {
  return parts.reduce((total, part) => total + size(part), 0);
}

function tooLarge(): Error {
  return Object.assign(new Error("statement is larger than the server's max_allowed_packet"), {
    code: 'ER_NET_PACKET_TOO_LARGE',
    sqlState: '08S01',
  });
}
