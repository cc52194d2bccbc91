const FEEL =
  ' (this looks like FEEL; conditions here are CEL: leave out the "=" at the beginning, and compare with "==", "&&" and "||")';
const LITERALS = /"[^"]*"|'[^']*'/g;

/** How other languages write what CEL writes otherwise, and what to write. */
const SLIPS: readonly [RegExp, string][] = [
  [/(?<![!<=>])=(?!=)/, 'compare with "==", not with "="'],
  [/\sand\s/i, 'write "&&" for "and"'],
  [/\sor\s/i, 'write "||" for "or"'],
  [/(?:^|[\s(])not\s/i, 'write "!" for "not"'],
];

/**
 * What an author most likely meant with a text that cannot be used as CEL: a part of a sentence that begins with a blank, or
 * nothing.
 */
export function hintOf(source: string): string {
  // Expressions of Camunda 8 in FEEL begin so. No CEL does.
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
