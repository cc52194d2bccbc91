import type { Socket } from 'node:net';
import type { Connection } from 'mysql2';
import type { Connection as PromiseConnection } from 'mysql2/promise';

/** The only fields of mysql2 used here that it does not document; server-pool.spec.ts fails when they change. */
interface Internals {
  readonly stream: Socket;
  readonly _command: unknown;
  readonly _commands: { readonly length: number };
}

/** Returns the socket of a connection; with TLS, the encrypted one. */
export function socketOf(connection: Connection | PromiseConnection): Socket {
  const { connection: plain = connection } = connection as { connection?: object };
  return (plain as Internals).stream;
}

/**
 * Sets the host name against which Node.js checks the certificate of a server. For IP addresses mysql2 passes no name when it starts TLS on
 * a socket; Node.js then reads this undocumented field of the socket, and without it takes `localhost`. probed-databases.int-spec.ts fails
 * when that changes.
 */
export function withHost(socket: Socket, host: string): Socket {
  return Object.assign(socket, { _host: host });
}

/** Reports whether the server has not answered all commands of a connection. */
export function isAwaitingAnswer(connection: Connection): boolean {
  const { _command: command, _commands: commands } = connection as unknown as Internals;
  return (command !== undefined && command !== null) || commands.length > 0;
}
