/** Characters that break a line or change the direction of what stands beside them (Unicode TR 9, TR 36). */
// eslint-disable-next-line no-control-regex
const BREAKS_OR_TURNS = /[\t\n\r\u0080-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** Characters that show nothing. The joiners U+200C and U+200D are not among them: scripts and emoji need them. */
const SHOWS_NOTHING = /[\u200b\u2060\ufeff\u{e0000}-\u{e007f}]/u;

/** What is wrong with a name that people read beside others, as the end of a sentence (docs/contract.md, section 2.1). */
export function displayNameFault(text: string): string | undefined {
  if (BREAKS_OR_TURNS.test(text)) {
    return 'must be one line without characters that change the direction of text';
  }
  return SHOWS_NOTHING.test(text) ? 'must not contain invisible characters' : undefined;
}
