const MAX_PORT = 65_535;
const DEFAULT_PORT = 3_306;
/** Groups: credentials, hosts with their ports. The database's name ends the path. */
const SERVER = /^(?:mysql|mariadb):\/\/(?:([^/]*)@)?([^/@]+)\/[^/?]+(?:\?.*)?$/;
/** Groups: host, port. */
const HOST = /^([^/@:]+)(?::(\d{1,5}))?$/;

/**
 * Whether an address of a database server names a host and a database, read as its driver reads it. Where a part is
 * missing, the driver would go on with its own defaults: a server on this machine, no database.
 * @param url begins with mysql:// or mariadb://; may name several hosts, separated by commas
 */
export function isDatabaseServerUrl(url: string): boolean {
  const [, credentials = '', hosts] = SERVER.exec(url) ?? [];
  return hosts !== undefined && hosts.split(',').every(isHost) && isDecodable(credentials);
}

/** Where a database server listens. */
export interface DatabaseHost {
  host: string;
  port: number;
}

/** The hosts that an address of database servers names, in its order; none for other databases. */
export function databaseHosts(url: string): DatabaseHost[] {
  return databaseServers(url).map(({ endpoint }) => {
    const [, host = '', port = DEFAULT_PORT] = HOST.exec(endpoint.split('/')[2] ?? '') ?? [];
    return { host, port: Number(port) };
  });
}

/** The parts of an address that isDatabaseServerUrl() takes, credentials decoded; absent ones are left out. */
export interface DatabaseServer {
  /** Scheme, host, port and database. */
  endpoint: string;
  username?: string;
  password?: string;
}

/** Takes the address of a database server apart, with the first of several hosts; null for other databases. */
export function databaseServer(url: string): DatabaseServer | null {
  return databaseServers(url)[0] ?? null;
}

/** The same for each host that the address names. */
export function databaseServers(url: string): DatabaseServer[] {
  if (!isDatabaseServerUrl(url)) {
    return [];
  }
  const { scheme, begin, hosts, rest } = partsOf(url);
  const [username = '', ...password] = begin.slice(0, -1).split(':').map(decodeURIComponent);
  const database = rest.split('?')[0];
  return hosts.map((host) => ({
    endpoint: `${scheme}://${host}${database}`,
    ...(username === '' ? {} : { username }),
    ...(password.length === 0 ? {} : { password: password.join(':') }),
  }));
}

/** The address with each of its hosts alone, as the driver can read it. At least one, where isDatabaseServerUrl() takes it. */
export function hostUrls(url: string): string[] {
  const { scheme, begin, hosts, rest } = partsOf(url);
  return hosts.map((host) => `${scheme}://${begin}${host}${rest}`);
}

/** Of an address that isDatabaseServerUrl() takes. `begin` ends with `@` where there are credentials; `rest` begins with the slash before the database. */
function partsOf(url: string): { scheme: string; begin: string; hosts: string[]; rest: string } {
  const [, credentials, hosts = ''] = SERVER.exec(url) ?? [];
  const begin = credentials === undefined ? '' : `${credentials}@`;
  const place = url.slice(url.indexOf('//') + 2 + begin.length);
  return {
    scheme: url.slice(0, url.indexOf(':')),
    begin,
    hosts: hosts.split(','),
    rest: place.slice(hosts.length),
  };
}

function isHost(text: string): boolean {
  const [, , port] = HOST.exec(text) ?? ['', '', '0'];
  return port === undefined || (Number(port) >= 1 && Number(port) <= MAX_PORT);
}

function isDecodable(credentials: string): boolean {
  try {
    decodeURIComponent(credentials);
    return true;
  } catch {
    return false;
  }
}
