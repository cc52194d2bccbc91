// Controls, bidirectional marks and default-ignorable characters (tags, fillers, zero-width spaces, variation selectors). They hide
// text from people but not from models. Keeps characters that readers need: line ends, tabs, the style of an emoji or keycap, and
// joiners in an emoji or after a letter of a joining script.
const IN_EMOJI =
  /(?:\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})(?=\u200d\p{Extended_Pictographic})/u;
const JOINING_LETTER =
  /(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Common}\p{Script=Inherited}])[\p{L}\p{M}]\p{Script=Inherited}{0,4}/u;
const HIDDEN = new RegExp(
  [
    /(?![\t\n\r])\p{Cc}/u,
    /[\p{Cs}\u2028\u2029\ufff9-\ufffb]/u,
    /(?![\u200c-\u200d]|[\ufe0e-\ufe0f])\p{Default_Ignorable_Code_Point}/u,
    /(?<!\p{Extended_Pictographic})(?!(?<=[0-9#*]).\u20e3)[\ufe0e\ufe0f]/u,
    new RegExp(`(?<!${IN_EMOJI.source}|${JOINING_LETTER.source})[\\u200c-\\u200d]`, 'u'),
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** Returns whether a text contains invisible characters, or characters that change the order in which text is displayed. */
export function hidesText(text: string): boolean {
  return text.search(HIDDEN) !== -1;
}

/** Removes the characters that {@link hidesText} finds, and converts line ends to line feeds. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, '').replace(/\r\n?/g, '\n');
}

/** Returns whether {@link plainText} truncates a text. */
export function isCut(value: unknown, maxLength: number): boolean {
  return (
    typeof value === 'string' && value.length > maxLength && visibleText(value).trim().length > maxLength
  );
}

/** Returns an untrusted text in a form that is safe to store and display, up to `maxLength` UTF-16 units; `''` for other values. */
export function plainText(value: unknown, maxLength: number): string {
  if (typeof value !== 'string') {
    return '';
  }
  const cut = visibleText(value.slice(0, maxLength * 2)).slice(0, maxLength);
  // Must not end in the middle of a surrogate pair.
  return (/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut).trim();
}
