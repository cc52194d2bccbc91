/**
 * The canonical JSON text of a value (RFC 8785): members sorted by UTF-16 code units, no white space. Equal values give
 * equal text however a database or a server ordered their members.
 * @param value plain JSON data
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(canonicalJson).join(',')}]`;
  }
  if (typeof value !== 'object' || value === null) {
    return JSON.stringify(value);
  }
  // Not by way of a sorted copy: an object always puts integer-like names first.
  const members = Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
