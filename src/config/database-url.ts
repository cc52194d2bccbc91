import { urlCredentials, type UrlCredentials } from './url-credentials.js';

const MAX_PORT = 65_535;
const DEFAULT_PORT = 3_306;
/** Groups: scheme, credentials, host, port, database. */
const SERVER = /^(mysql|mariadb):\/\/(?:([^/]*)@)?([^/@:,]+)(?::(\d{1,5}))?\/([^/?]+)(?:\?.*)?$/;

interface DatabaseServer {
  endpoint: string;
  host: string;
  port: number;
  database: string;
  credentials: UrlCredentials;
}

/**
 * Takes the address of a database server apart, read as its driver reads it.
 * @returns null for other databases, and where host or database is missing: the driver would go on with its own defaults
 */
export function databaseServer(url: string): DatabaseServer | null {
  const [, scheme, given = '', host, port, database] = SERVER.exec(url) ?? [];
  const credentials = urlCredentials(given);
  if (host === undefined || database === undefined || credentials === null || !isPort(port)) {
    return null;
  }
  const place = port === undefined ? host : `${host}:${port}`;
  return {
    endpoint: `${scheme}://${place}/${database}`,
    host,
    port: Number(port ?? DEFAULT_PORT),
    database,
    credentials,
  };
}

function isPort(port: string | undefined): boolean {
  return port === undefined || (Number(port) >= 1 && Number(port) <= MAX_PORT);
}
