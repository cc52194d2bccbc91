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
 * Parses the address of a database server as its driver does.
 * @returns null for other databases, and if host or database is missing: the driver would use its own defaults
 */
export function databaseServer(url: string): DatabaseServer | null {
  const [, scheme, given = '', host, port, database] = SERVER.exec(url) ?? [];
  const credentials = urlCredentials(given);
  const number = Number(port ?? DEFAULT_PORT);
  const isPort = number >= 1 && number <= MAX_PORT;
  if (host === undefined || database === undefined || credentials === null || !isPort) {
    return null;
  }
  const place = port === undefined ? host : `${host}:${port}`;
  return {
    endpoint: `${scheme}://${place}/${database}`,
    host,
    port: number,
    database,
    credentials,
  };
}
