import { ExpressionSyntaxError } from './expression.errors.js';

/** Literal text, or a reference between `${` and `}`. */
export type TemplatePart =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'reference'; readonly written: string };

/** Escape for a literal `${`. */
const ESCAPED = '$${';
/** Start of a reference. */
export const OPENING = '${';

/**
 * Splits a template. Braces and quotes in a reference belong to CEL, so `${ {"a": "}"}.a }` is one reference.
 * @throws ExpressionSyntaxError when a `${` is not closed
 */
export function splitTemplate(source: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let text = '';
  let position = 0;
  for (let next = source.indexOf(OPENING); next >= 0; next = source.indexOf(OPENING, position)) {
    if (next > position && source.startsWith(ESCAPED, next - 1)) {
      text += source.slice(position, next - 1) + OPENING;
      position = next + OPENING.length;
      continue;
    }
    text += source.slice(position, next);
    const end = endOfReference(source, next);
    if (text !== '') {
      parts.push({ kind: 'text', text });
    }
    parts.push({ kind: 'reference', written: source.slice(next + OPENING.length, end).trim() });
    text = '';
    position = end + 1;
  }
  text += source.slice(position);
  return text === '' ? parts : [...parts, { kind: 'text', text }];
}

/**
 * Returns the position of the `}` that closes a reference.
 * @throws ExpressionSyntaxError when the reference is not closed
 */
export function endOfReference(source: string, opening: number): number {
  let depth = 0;
  let position = opening + OPENING.length;
  while (position < source.length) {
    const character = source[position];
    if (character === '}' && depth === 0) {
      return position;
    }
    if (character === '"' || character === "'") {
      position = endOfString(source, position, character);
    } else {
      depth += depthChange(character);
      position += 1;
    }
  }
  throw new ExpressionSyntaxError(`The \${ at position ${opening + 1} is never closed.`);
}

function depthChange(character: string | undefined): number {
  if (character === '{') {
    return 1;
  }
  return character === '}' ? -1 : 0;
}

/** Returns the position after a CEL string: quoted, triple-quoted, or raw after `r`, where backslashes are literal. */
function endOfString(source: string, start: number, quote: string): number {
  const raw = /[rR]/.test(source[start - 1] ?? '');
  const fence = source.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  let position = start + fence.length;
  while (position < source.length && !source.startsWith(fence, position)) {
    position += source[position] === '\\' && !raw ? 2 : 1;
  }
  return position + fence.length;
}
