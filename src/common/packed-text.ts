import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/**
 * A text for a column, compressed (RFC 1952) as base64: a package of many megabytes would otherwise grow with every quote
 * that JSON and SQL escape, beyond what servers take in one statement.
 */
export async function packText(text: string): Promise<string> {
  return (await pack(Buffer.from(text))).toString('base64');
}

/** The reverse of `packText`. */
export async function unpackText(packed: string): Promise<string> {
  return (await unpackBytes(packed)).toString();
}

/** As `unpackText`, in UTF-8. */
export async function unpackBytes(packed: string): Promise<Buffer> {
  return unpack(Buffer.from(packed, 'base64'));
}
