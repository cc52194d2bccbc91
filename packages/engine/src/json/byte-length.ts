const encoder = new TextEncoder();
/** Node's own count makes no copy of the text. */
const node = (globalThis as { Buffer?: { byteLength(text: string): number } }).Buffer;

/** Returns the length of a text in UTF-8, in bytes. */
export const byteLength: (text: string) => number =
  node === undefined ? (text) => encoder.encode(text).length : (text) => node.byteLength(text);
