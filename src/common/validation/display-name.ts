/** Characters that break a line or change the direction of what stands beside them (Unicode TR 9, TR 36). */
// eslint-disable-next-line no-control-regex
const BREAKS_OR_TURNS = /[\t\n\r\u0080-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/**
 * Characters that show nothing. The joiners U+200C and U+200D and variation selectors are not among them: scripts and emoji need
 * them.
 */
const SHOWS_NOTHING = /(?![\u200c\u200d\p{Variation_Selector}])\p{Default_Ignorable_Code_Point}/u;
/** A flag such as that of Scotland: a black flag, and its region as tags, which show nothing elsewhere (Unicode TS 51, annex C). */
const FLAGS = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/gu;

/** What is wrong with a name that people read beside others, as the end of a sentence (docs/contract.md, section 2.1). */
export function displayNameFault(text: string): string | undefined {
  if (BREAKS_OR_TURNS.test(text)) {
    return 'must be one line without characters that change the direction of text';
  }
  return SHOWS_NOTHING.test(text.replaceAll(FLAGS, '')) ? 'must not contain invisible characters' : undefined;
}
