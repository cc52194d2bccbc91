/** Controls, what turns the direction of text, breaks of lines, and what shows nothing; but what scripts and emoji are made with. */
const UNPRINTABLE =
  /(?![\u200c\u200d\p{Variation_Selector}\u{e0020}-\u{e007f}])[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/** Text of others must not steer the terminal, nor look like another. What would is shown as U+FFFD. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, '\uFFFD');
}
