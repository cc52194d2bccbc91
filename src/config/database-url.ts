const MAX_PORT = 65_535;
/** Groups: credentials, port. The database's name ends the path. */
const SERVER = /^(?:mysql|mariadb):\/\/(?:([^/]*)@)?[^/@:]+(?::(\d{1,5}))?\/[^/?]+(?:\?.*)?$/;

/**
 * Whether an address of a database server names a host and a database, read as its driver reads it. Where a part is
 * missing, the driver would go on with its own defaults: a server on this machine, no database.
 * @param url begins with mysql:// or mariadb://
 */
export function isDatabaseServerUrl(url: string): boolean {
  const parts = SERVER.exec(url);
  return parts !== null && isDecodable(parts[1] ?? '') && isPort(parts[2]);
}

/** The parts of an address that isDatabaseServerUrl() takes, credentials decoded; absent ones are left out. */
export interface DatabaseServer {
  /** Scheme, host, port and database. */
  endpoint: string;
  username?: string;
  password?: string;
}

/** Takes the address of a database server apart; null for other databases. */
export function databaseServer(url: string): DatabaseServer | null {
  if (!isDatabaseServerUrl(url)) {
    return null;
  }
  const credentials = SERVER.exec(url)?.[1];
  const begin = credentials === undefined ? '' : `${credentials}@`;
  const place = url.slice(url.indexOf('//') + 2 + begin.length).split('?')[0];
  const [username = '', ...password] = (credentials ?? '').split(':').map(decodeURIComponent);
  return {
    endpoint: `${url.slice(0, url.indexOf(':'))}://${place}`,
    ...(username === '' ? {} : { username }),
    ...(password.length === 0 ? {} : { password: password.join(':') }),
  };
}

function isPort(text: string | undefined): boolean {
  return text === undefined || (Number(text) >= 1 && Number(text) <= MAX_PORT);
}

function isDecodable(credentials: string): boolean {
  try {
    decodeURIComponent(credentials);
    return true;
  } catch {
    return false;
  }
}
