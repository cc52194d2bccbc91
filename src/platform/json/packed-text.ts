import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { runYielding, type YieldingWork } from '#engine/support';

/** Returns a Buffer of the same bytes, without copying them. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** Characters of base64 that are decoded at once; a multiple of four, which are three bytes. */
const PIECE = 1_048_576;

/**
 * Compresses a text (RFC 1952) as base64 for a database column. A package of many megabytes would otherwise grow with
 * every quote that JSON and SQL escape, beyond what servers accept in one statement.
 */
export async function packText(text: string): Promise<string> {
  return (await pack(Buffer.from(text))).toString('base64');
}

/**
 * Reverses `packText`. Do not call it within a transaction.
 * @param packed the characters, one byte each
 * @returns UTF-8
 */
export async function unpackBytes(packed: Uint8Array): Promise<Buffer> {
  return unpack(await runYielding(decoded(bufferOf(packed))));
}

function* decoded(base64: Buffer): YieldingWork<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.ceil((base64.length * 3) / 4));
  let length = 0;
  for (let at = 0; at < base64.length; at += PIECE) {
    length += bytes.write(base64.toString('latin1', at, at + PIECE), length, 'base64');
    yield;
  }
  return bytes.subarray(0, length);
}
