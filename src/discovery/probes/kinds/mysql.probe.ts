import type { Connection, ConnectionOptions, RowDataPacket } from 'mysql2/promise';
import { socketOf, withHost } from '../../../store/connection/mysql2-internals.js';
import type { Component } from '../../model/component.types.js';
import { addressesOf } from '../net/component-options.js';
import { loadDriver, ProbeSockets } from '../net/probe-sockets.js';
import { versionOf, wholeNumber } from '../net/self-description.js';
import { connectionsOf } from '../net/warnings.js';
import { tlsTrustOf, usesTls, warnOfSocket } from '../net/open-socket.js';
import type { ProbeFailure } from '../../model/failures.js';
import type { ProbeContext, ProbeFinding } from '../../model/probe.js';

const PORT = 3_306;
const CODES: Readonly<Record<string, ProbeFailure>> = {
  ER_ACCESS_DENIED_ERROR: 'auth',
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: 'auth',
  ER_HOST_NOT_PRIVILEGED: 'auth',
  ER_HOST_IS_BLOCKED: 'auth',
  ER_MUST_CHANGE_PASSWORD_LOGIN: 'auth',
  ER_ACCOUNT_HAS_BEEN_LOCKED: 'auth',
  ER_NOT_SUPPORTED_AUTH_MODE: 'auth',
  AUTH_SWITCH_PLUGIN_ERROR: 'auth',
  ER_SPECIFIC_ACCESS_DENIED_ERROR: 'forbidden',
  ER_CON_COUNT_ERROR: 'down',
  ER_SERVER_SHUTDOWN: 'down',
  HANDSHAKE_NO_SSL_SUPPORT: 'tls',
  HANDSHAKE_SSL_ERROR: 'tls',
  PROTOCOL_CONNECTION_LOST: 'network',
  PROTOCOL_SEQUENCE_TIMEOUT: 'timeout',
};
/** First byte of a server: the protocol version of the handshake, or an error packet. */
const GREETINGS = new Set([10, 255]);
const VERSION =
  'SELECT VERSION() AS version, @@version_comment AS comment, @@max_connections AS max, @@event_scheduler AS events';
const THREADS = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Threads_connected', 'Threads_running')";

/** Checks a MySQL or MariaDB server: version and connections, without its own. Needs an account without privileges. */
export async function probeMysql(component: Component, context: ProbeContext): Promise<ProbeFinding> {
  const sockets = new ProbeSockets(context, (first) => first.byteLength < 5 || GREETINGS.has(first[4] ?? 0));
  const options = connectionOptions(component, context, sockets);
  const { createConnection } = await loadDriver('mysql2', () => import('mysql2/promise'));
  try {
    const connection = await createConnection(options);
    context.onEnd(() => connection.destroy());
    // The driver reports failures to the query and as an event, which needs a listener.
    connection.on('error', () => undefined);
    return await find(connection, context);
  } catch (error) {
    throw sockets.toError(error, CODES);
  }
}

async function find(connection: Connection, context: ProbeContext): Promise<ProbeFinding> {
  const [[about]] = await connection.query<RowDataPacket[]>(VERSION);
  const [threads] = await connection.query<RowDataPacket[]>(THREADS);
  const count = (name: string): number =>
    wholeNumber(threads.find((row) => row['Variable_name'] === name)?.['Value']);
  const isMariaDb = /mariadb/i.test(`${String(about?.['version'])} ${String(about?.['comment'])}`);
  // MySQL counts the thread of its event scheduler as running, but not as connected.
  const own = !isMariaDb && about?.['events'] === 'ON' ? 2 : 1;
  const active = Math.max(0, count('Threads_running') - own);
  // Do not count the connection of this probe.
  const idle = Math.max(0, count('Threads_connected') - 1 - active);
  warnOfSocket(socketOf(connection), context);
  return {
    type: isMariaDb ? 'mariadb' : 'mysql',
    version: versionOf(about?.['version']),
    connections: connectionsOf({ active, idle, max: wholeNumber(about?.['max']) }, context),
  };
}

function connectionOptions(
  component: Component,
  context: ProbeContext,
  sockets: ProbeSockets,
): ConnectionOptions {
  const { scheme, servers } = addressesOf(component, PORT);
  const [server] = servers;
  const { username = '', password = '' } = component.credentials ?? {};
  const { ca } = tlsTrustOf(component);
  const ssl = { verifyIdentity: true, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) };
  return {
    host: server.host,
    stream: () => withHost(sockets.open(server), server.host),
    user: username,
    password,
    connectTimeout: context.timeoutMs,
    ...(usesTls(component, scheme) ? { ssl } : {}),
  };
}
