import { ExpressionSyntaxError } from './expression.errors.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';

/** Tokens: comments, white space, strings (raw, triple-quoted, quoted), words and numbers, and other single characters. */
const SYMBOLS =
  /(?<ignored>\/\/[^\n]*|\s+)|(?:[rR][bB]?|[bB][rR])(?:"""[^]*?"""|'''[^]*?'''|"[^"\n]*"|'[^'\n]*')|[bB]?(?:"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\w+|&&|\|\||[=!<>]=|[^]/g;

/**
 * Rejects a source that would take too long to parse. Parsing time grows with the number of symbols and the depth of brackets,
 * and in some places with the square of consecutive white space. Measured.
 * @returns the number of symbols
 * @throws ExpressionSyntaxError that names the limit and the remedy
 */
export function checkOutline(source: string): number {
  const { sourceLength, symbols, brackets, spaces } = EXPRESSION_LIMITS;
  assertLimit(
    source.length <= sourceLength,
    `has at most ${sourceLength} characters, this one has ${source.length}`,
  );
  let count = 0;
  let depth = 0;
  for (const { 0: symbol, groups } of source.matchAll(SYMBOLS)) {
    if (groups?.['ignored'] !== undefined) {
      assertLimit(symbol.trim() !== '' || symbol.length <= spaces, `has at most ${spaces} spaces in a row`);
      continue;
    }
    count += 1;
    depth += depthOf(symbol);
    assertLimit(depth <= brackets, `has at most ${brackets} nested brackets`);
  }
  assertLimit(
    count <= symbols,
    `has at most ${symbols} names, operators and brackets, this one has ${count}`,
  );
  return count;
}

function depthOf(symbol: string): number {
  if ('([{'.includes(symbol)) {
    return 1;
  }
  return ')]}'.includes(symbol) ? -1 : 0;
}

function assertLimit(holds: boolean, what: string): void {
  if (!holds) {
    throw new ExpressionSyntaxError(`An expression ${what}. Split it, or compute part of it earlier.`);
  }
}
