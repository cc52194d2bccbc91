const FEEL =
  ' (this looks like FEEL; conditions here are CEL: remove the leading "=" and compare with "==", "&&" and "||")';
const LITERALS = /"[^"]*"|'[^']*'/g;

/** Syntax of other languages, and what to write in CEL. */
const SLIPS: readonly [RegExp, string][] = [
  [/(?<![!<=>])=(?!=)/, 'compare with "==", not with "="'],
  [/\sand\s/i, 'write "&&" for "and"'],
  [/\sor\s/i, 'write "||" for "or"'],
  [/(?:^|[\s(])not\s/i, 'write "!" for "not"'],
];

/**
 * Returns a hint for a text that is not CEL, starting with a space, or an empty string.
 */
export function hintOf(source: string): string {
  // FEEL expressions of Camunda 8 start like this; CEL never does.
  if (source.trimStart().startsWith('=')) {
    return FEEL;
  }
  if (source.includes('${')) {
    return ' (a condition is written without ${ })';
  }
  const code = source.replaceAll(LITERALS, '""');
  const hints = SLIPS.filter(([slip]) => slip.test(code)).map(([, hint]) => hint);
  return hints.length === 0 ? '' : ` (${hints.join('; ')})`;
}
