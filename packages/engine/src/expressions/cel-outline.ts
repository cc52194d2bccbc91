import { ExpressionSyntaxError } from './expression.errors.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';

/** Comments, white space, strings (raw ones, in three quotes, in one), words and numbers, and everything else by character. */
const SYMBOLS =
  /(?<silent>\/\/[^\n]*|\s+)|(?:[rR][bB]?|[bB][rR])(?:"""[^]*?"""|'''[^]*?'''|"[^"\n]*"|'[^'\n]*')|[bB]?(?:"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\w+|&&|\|\||[=!<>]=|[^]/g;

/**
 * Refuses a source that would take long to parse, before it is parsed. The number of symbols and the depth of brackets cost
 * time. At certain places white space does too, by the square of its length. Measured.
 * @returns the number of its symbols
 * @throws ExpressionSyntaxError that says which limit and what to do
 */
export function checkOutline(source: string): number {
  const { sourceLength, symbols, brackets, spaces } = EXPRESSION_LIMITS;
  demand(
    source.length <= sourceLength,
    `has at most ${sourceLength} characters, this one has ${source.length}`,
  );
  let count = 0;
  let depth = 0;
  for (const { 0: symbol, groups } of source.matchAll(SYMBOLS)) {
    if (groups?.['silent'] !== undefined) {
      demand(symbol.trim() !== '' || symbol.length <= spaces, `has at most ${spaces} spaces in a row`);
      continue;
    }
    count += 1;
    depth += depthOf(symbol);
    demand(depth <= brackets, `has at most ${brackets} brackets within each other`);
  }
  demand(count <= symbols, `has at most ${symbols} names, operators and brackets, this one has ${count}`);
  return count;
}

function depthOf(symbol: string): number {
  if ('([{'.includes(symbol)) {
    return 1;
  }
  return ')]}'.includes(symbol) ? -1 : 0;
}

function demand(holds: boolean, what: string): void {
  if (!holds) {
    throw new ExpressionSyntaxError(`An expression ${what}; divide it, or compute a part of it before.`);
  }
}
