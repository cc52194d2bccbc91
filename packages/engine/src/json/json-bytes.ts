/** Structural characters of JSON (RFC 8259, section 2), both as bytes and as UTF-16 units. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const LIST = 0x5b;
export const BACKSLASH = 0x5c;
export const LIST_END = 0x5d;
export const OBJECT = 0x7b;
export const OBJECT_END = 0x7d;
export const SPACE = 0x20;

/** Returns the index of the quotation mark that closes the string starting at `start`, or the length if the string is not closed. */
export function endOfByteString(bytes: Uint8Array, start: number): number {
  let at = bytes.indexOf(QUOTE, start + 1);
  while (at >= 0 && isEscaped(bytes, at)) {
    at = bytes.indexOf(QUOTE, at + 1);
  }
  return at < 0 ? bytes.length : at;
}

function isEscaped(bytes: Uint8Array, at: number): boolean {
  let first = at;
  while (bytes[first - 1] === BACKSLASH) {
    first -= 1;
  }
  return (at - first) % 2 === 1;
}
