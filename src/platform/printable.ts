/**
 * Control characters, line breaks, characters that change the direction of text, and invisible ones, except those that
 * scripts and emoji need.
 */
const UNPRINTABLE =
  /(?![\u200c\u200d\p{Variation_Selector}\u{e0020}-\u{e007f}])[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/** Replaces characters that could control the terminal or disguise a text by U+FFFD. Apply it to text from others. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, '\uFFFD');
}
