import type { Client, ClientConfig } from 'pg';
import type { Component } from '../../model/component.types.js';
import { addressesOf } from '../net/component-options.js';
import { loadDriver, ProbeSockets } from '../net/probe-sockets.js';
import { versionOf, wholeNumber } from '../net/self-description.js';
import { connectionsOf } from '../net/warnings.js';
import { tlsOptions, tlsTrustOf, usesTls, warnOfSocket } from '../net/open-socket.js';
import { ProbeError, type ProbeFailure } from '../../model/failures.js';
import type { ProbeContext, ProbeFinding } from '../../model/probe.js';

const PORT = 5_432;
const CODES: Readonly<Record<string, ProbeFailure>> = {
  '28P01': 'auth',
  '28000': 'auth',
  '42501': 'forbidden',
  '3D000': 'configuration',
  '53300': 'down',
  '57P01': 'down',
  '57P02': 'down',
  '57P03': 'down',
};
/** The driver's message for a server without TLS, which has no code. */
const NO_TLS = /server does not support SSL/;
/** First bytes of server messages: authentication, error, notice; S and N answer the TLS request. */
const FIRST_BYTES = new Set(Buffer.from('RENS'));
/** Without pg_monitor (or pg_read_all_stats, which is part of it) the rows of other users have no state. */
const QUERY = `
  SELECT current_setting('server_version') AS version,
         current_setting('max_connections')::int AS max,
         pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS sees_all,
         (SELECT sum(numbackends) FROM pg_stat_database)::int - 1 AS backends,
         count(*) FILTER (WHERE state LIKE 'idle%')::int AS idle,
         count(*) FILTER (WHERE state NOT LIKE 'idle%')::int AS active
    FROM pg_stat_activity
   WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;

interface Row {
  version: string;
  max: number;
  sees_all: boolean;
  backends: number;
  idle: number;
  active: number;
}

/** Checks a PostgreSQL server. Without pg_monitor all connections count as active, with a warning. */
export async function probePostgresql(component: Component, context: ProbeContext): Promise<ProbeFinding> {
  const sockets = new ProbeSockets(context, (first) => FIRST_BYTES.has(first[0] ?? 0));
  const config = clientConfig(component, sockets);
  const { Client } = (await loadDriver('pg', () => import('pg'))).default;
  const client = new Client(config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await find(client, context);
  } catch (error) {
    throw NO_TLS.test((error as Error).message) ? new ProbeError('tls') : sockets.toError(error, CODES);
  }
}

async function find(client: Client, context: ProbeContext): Promise<ProbeFinding> {
  const { rows } = await client.query<Row>(QUERY);
  const row = rows[0] as Row;
  const seen = row.sees_all ? { active: row.active, idle: row.idle } : { active: row.backends, idle: 0 };
  if (!row.sees_all) {
    context.warn({ code: 'privilege_missing', privilege: 'pg_monitor' });
  }
  warnOfSocket(client.connection.stream, context);
  return {
    type: 'postgresql',
    version: versionOf(row.version),
    connections: connectionsOf(
      { active: wholeNumber(seen.active), idle: wholeNumber(seen.idle), max: wholeNumber(row.max) },
      context,
    ),
  };
}

/** Always sets account, database and TLS, because the driver takes missing ones from the environment and a password file. */
function clientConfig(component: Component, sockets: ProbeSockets): ClientConfig {
  const { scheme, path, servers } = addressesOf(component, PORT);
  const [server] = servers;
  const { username = 'postgres', password } = component.credentials ?? {};
  return {
    host: server.host,
    port: server.port,
    user: username,
    // Called only when the server requires a password.
    password: () => {
      if (password === undefined) {
        throw new ProbeError('auth');
      }
      return password;
    },
    database: path === '' ? 'postgres' : decodeURIComponent(path),
    application_name: 'svc-platform',
    ssl: usesTls(component, scheme) ? tlsOptions(server.host, tlsTrustOf(component)) : false,
    stream: () => {
      const socket = sockets.open(server);
      // The driver connects the given socket, but this one is already connecting.
      socket.connect = () => socket;
      return socket;
    },
  };
}
