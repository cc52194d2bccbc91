import type { PoolConnection } from 'mysql2';

/** Bytes of one UTF-16 unit at the most. */
const UNIT_BYTES = 3;
/** The byte that says what kind of packet it is, and one that the server keeps for itself. */
const OVERHEAD_BYTES = 2;

interface SentCommand {
  sql?: unknown;
  /** Of a statement that is prepared, which are sent beside it. */
  parameters?: unknown;
  onResult?: (error: Error) => void;
}
/** What mysql2 sends through; it offers no other place where a statement stands as it is sent. */
interface Sender {
  addCommand: (command: SentCommand) => SentCommand;
}

/**
 * Refuses statements that fit into no packet of the server. Such a statement would end the connection while the driver
 * still writes. Nobody could tell that from a server that went away, so the statement would be sent again and again.
 */
export class PacketLimit {
  /** What a connection was told last; new ones are asked with what they say first. */
  private lastKnown = Number.POSITIVE_INFINITY;

  /** Asks the server of a new connection, and watches the statements that are sent over it from now on. */
  watch(connection: PoolConnection): void {
    let limit: number | undefined;
    connection.query('SELECT @@max_allowed_packet AS bytes', (error, rows) => {
      const bytes = error === null ? Number((rows as { bytes: unknown }[])[0]?.bytes) : Number.NaN;
      if (bytes > 0) {
        limit = bytes;
        this.lastKnown = bytes;
      }
    });
    const sender = connection as unknown as Sender;
    const send = sender.addCommand.bind(connection);
    sender.addCommand = (command) => {
      const { onResult, sql, parameters } = command;
      const sent = [sql, parameters]
        .flat()
        .filter((part) => typeof part === 'string' || part instanceof Uint8Array);
      const bytes = (limit ?? this.lastKnown) - OVERHEAD_BYTES;
      // Most statements are so short that nobody needs to count.
      const isLonger =
        sum(sent, ({ length }) => length * UNIT_BYTES) > bytes &&
        sum(sent, (part) => Buffer.byteLength(part)) > bytes;
      if (onResult === undefined || !isLonger) {
        return send(command);
      }
      queueMicrotask(() => onResult(tooLarge()));
      return command;
    };
  }
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
