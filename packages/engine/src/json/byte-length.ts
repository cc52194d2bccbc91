const encoder = new TextEncoder();
/** Node counts the bytes without copying the text. */
const nodeBuffer = (globalThis as { Buffer?: { byteLength(text: string): number } }).Buffer;

/** Returns the UTF-8 length of a string, in bytes. */
export const byteLength: (text: string) => number =
  nodeBuffer === undefined ? (text) => encoder.encode(text).length : (text) => nodeBuffer.byteLength(text);
