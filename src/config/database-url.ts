const MAX_PORT = 65_535;
/** Groups: credentials, port. The database's name ends the path. */
const SERVER = /^(?:mysql|mariadb):\/\/(?:([^/]*)@)?[^/@:]+(?::(\d{1,5}))?\/[^/?]+(?:\?.*)?$/;

/**
 * Whether an address of a database server names a host and a database, read as its driver reads it, which would go on
 * with its own defaults (a server on this machine, no database) where a part is missing.
 * @param url begins with mysql:// or mariadb://
 */
export function isDatabaseServerUrl(url: string): boolean {
  const parts = SERVER.exec(url);
  return parts !== null && isDecodable(parts[1] ?? '') && isPort(parts[2]);
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
