const PIECE = 1_048_576;

/**
 * Returns the canonical JSON text of a value (RFC 8785): members sorted by UTF-16 code units, no white space. Equal
 * values have equal text, however a database or a server ordered their members.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(canonicalJson).join(',')}]`;
  }
  if (typeof value !== 'object' || value === null) {
    return JSON.stringify(value);
  }
  // A sorted copy would not do, because objects always list integer-like names first.
  const members = sorted(value).map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

function sorted(value: object): [string, unknown][] {
  return Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * Yields the canonical text in pieces, to hash large values.
 * @param value plain JSON data, in which bytes replace values whose canonical JSON (in UTF-8) already exists
 */
export function* canonicalPieces(value: unknown): Generator<string | Uint8Array> {
  if (value instanceof Uint8Array) {
    for (let at = 0; at < value.length; at += PIECE) {
      yield value.subarray(at, at + PIECE);
    }
  } else if (!holdsBytes(value)) {
    yield canonicalJson(value);
  } else {
    const isList = Array.isArray(value);
    let before = isList ? '[' : '{';
    for (const [name, part] of isList ? value.entries() : sorted(value)) {
      yield isList ? before : `${before}${JSON.stringify(name)}:`;
      yield* canonicalPieces(part);
      before = ',';
    }
    yield isList ? ']' : '}';
  }
}

function holdsBytes(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value instanceof Uint8Array || Object.values(value).some(holdsBytes))
  );
}
