import { runWithoutYielding, type YieldingWork } from '#engine/support';

/** A text in canonical form, which is equal for different encodings of the same text. */
export interface CanonicalText {
  /** The canonical text, with one character for each byte of UTF-8. */
  readonly text: string;
  /** Byte offset in the original for each character; undefined if the offsets are the same. */
  readonly origins: Uint32Array | undefined;
}

const ESCAPES_AT_ONCE = 4_096;
/** Maximum depth of nested escapes, such as percent-encoding within JSON within JSON. */
const MAX_ROUNDS = 3;
/** Percent-encoding, escapes of JSON and XML, and line ends in base64 with 60 columns or more. */
const ENCODED =
  /%[\da-f]{2}|(?:\\ud[89ab][\da-f]{2})?\\u[\da-f]{4}|\\["\\/bfnrt]|&(?:amp|lt|gt|quot|apos|#\d{1,6}|#x[\da-f]{1,5});|(?<=[\w+/-]{60})\r?\n(?=[\w+/-])/gi;
const MAY_BE_ENCODED = /[%\\&\n]/;
const NOT_ASCII = /[^\0-\x7f]/;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Decodes percent-encoding and escapes of JSON and XML. Maps `+` to a space, as in form encoding, and the two alphabets of
 * base64 (RFC 4648, sections 4 and 5) to one.
 */
export function canonicalText(original: string): CanonicalText {
  return runWithoutYielding(canonicalSteps(original));
}

/** As {@link canonicalText}, in steps. */
export function* canonicalSteps(original: string): YieldingWork<CanonicalText> {
  let current: CanonicalText = { text: bytesOf(original), origins: undefined };
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = MAY_BE_ENCODED.test(current.text) ? yield* decoded(current) : current;
    if (next === current) {
      break;
    }
    current = next;
  }
  const text = current.text.replaceAll('+', ' ').replaceAll('-', ' ').replaceAll('_', '/');
  return { text, origins: current.origins };
}

/** Returns the UTF-8 bytes of a text, one character each. */
export function bytesOf(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text;
}

/** Decodes one level of escapes. Returns the same object if there are none. */
function* decoded(from: CanonicalText): YieldingWork<CanonicalText> {
  const origins = new Uint32Array(from.text.length);
  let text = '';
  let read = 0;
  let escapes = 0;
  const keep = (part: string, originOf: (index: number) => number): void => {
    for (let index = 0; index < part.length; index += 1) {
      origins[text.length + index] = originOf(index);
    }
    text += part;
  };
  const origin = (index: number): number => from.origins?.[index] ?? index;
  for (const { 0: escape, index } of from.text.matchAll(ENCODED)) {
    const start = read;
    keep(from.text.slice(read, index), (offset) => origin(start + offset));
    keep(plain(escape), () => origin(index));
    read = index + escape.length;
    escapes += 1;
    if (escapes % ESCAPES_AT_ONCE === 0) {
      yield;
    }
  }
  if (read === 0) {
    return from;
  }
  keep(from.text.slice(read), (offset) => origin(read + offset));
  return { text, origins };
}

function plain(escape: string): string {
  switch (escape[0]) {
    case '%':
      return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    case '\\':
      return bytesOf(JSON.parse(`"${escape.toLowerCase()}"`) as string);
    case '&':
      return entity(escape.slice(1, -1).toLowerCase());
    default:
      return ''; // a line end within base64
  }
}

function entity(name: string): string {
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return NAMED[name] ?? bytesOf(String.fromCodePoint(code));
}
