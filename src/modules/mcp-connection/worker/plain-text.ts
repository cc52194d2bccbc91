// Controls (line feed and tab stay), bidirectional overrides, invisible and tag characters: they hide text from a person.
const HIDDEN = /[\p{Cc}\p{Cs}\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/**
 * Makes a foreign text safe to store and to show as plain text: well-formed Unicode without control, direction-changing
 * or invisible characters, at most `maxLength` UTF-16 units. Anything but a string is `''`.
 */
export function plainText(value: unknown, maxLength: number): string {
  if (typeof value !== 'string') {
    return '';
  }
  const clean = value
    .slice(0, maxLength * 2)
    .replace(/\r\n?/g, '\n')
    .replace(HIDDEN, (character) => (character === '\n' || character === '\t' ? character : ''));
  const cut = clean.slice(0, maxLength);
  // Do not end in the middle of a surrogate pair.
  return (/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut).trim();
}
