import { ExpressionSyntaxError } from './expression.errors.js';

/** Text that stands for itself, or what is written between `${` and `}`. */
export type TemplatePart =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'reference'; readonly written: string };

/** `$${` is written for a `${` that is no reference. */
const ESCAPED = '$${';
/** How a reference begins. */
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
 * Where the reference that opens at a position is closed.
 * @throws ExpressionSyntaxError when it is not
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

/** The position after a string of CEL: in one or three quotes, raw after `r`, where a backslash means nothing. */
function endOfString(source: string, start: number, quote: string): number {
  const raw = /[rR]/.test(source[start - 1] ?? '');
  const fence = source.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  let position = start + fence.length;
  while (position < source.length && !source.startsWith(fence, position)) {
    position += source[position] === '\\' && !raw ? 2 : 1;
  }
  return position + fence.length;
}
