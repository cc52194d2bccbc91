import { endOfString } from './json-text.js';

const MAX_SHOWN = 40;
const LIMIT = 'integers go up to 2^53 - 1 (9007199254740991)';

/** Message about a number that a double cannot hold, or an integer that it would round. */
export const BEYOND_NUMBERS = `is a number too large to store exactly: ${LIMIT}; send a larger one as a string`;

/** Reports an integer in JSON text that `JSON.parse` would round. */
export class RoundedIntegerError extends Error {
  override readonly name = 'RoundedIntegerError';

  constructor(integer: string) {
    const shown = integer.length > MAX_SHOWN ? `${integer.slice(0, MAX_SHOWN)}…` : integer;
    super(`${shown} would be rounded: ${LIMIT}. Write a larger one as a string, in quotes`);
  }
}

/** Replaces an integer with infinity, as `JSON.parse` does with numbers beyond a double. The caller must reject infinity. */
export function asInfinite(): string {
  return '1e999';
}

/** @throws RoundedIntegerError */
export function refuseRounded(integer: string): never {
  throw new RoundedIntegerError(integer);
}

const DIGITS = /\d{16}/;
const ZERO = 0x30;
const STRING_OR_DIGITS = /"|\d{16}/g;

/**
 * Parses JSON text as `JSON.parse` does, except for integers beyond 2^53 - 1, which it would round. An integer is a number without
 * fraction and exponent (docs/contract.md, section 1).
 * @param instead returns the JSON that replaces such an integer; `JSON.stringify` makes it a string
 * @throws SyntaxError as `JSON.parse` does, and errors of `instead`
 */
export function parseExactly(text: string, instead: (integer: string) => string): unknown {
  return JSON.parse(DIGITS.test(text) ? withoutRounded(text, instead) : text) as unknown;
}

function withoutRounded(text: string, instead: (integer: string) => string): string {
  const parts: string[] = [];
  let copied = 0;
  let found = nextOf(text, 0);
  while (found !== null) {
    const { index } = found;
    const start = text[index - 1] === '-' ? index - 1 : index;
    const end = found[0] === '"' ? endOfString(text, index) + 1 : endOfDigits(text, index);
    if (end === 0) {
      break;
    }
    const integer = text.slice(start, end);
    if (found[0] !== '"' && isInteger(text, start, end) && !Number.isSafeInteger(Number(integer))) {
      parts.push(text.slice(copied, start), instead(integer));
      copied = end;
    }
    found = nextOf(text, end);
  }
  return parts.join('') + text.slice(copied);
}

function nextOf(text: string, from: number): RegExpExecArray | null {
  STRING_OR_DIGITS.lastIndex = from;
  return STRING_OR_DIGITS.exec(text);
}

/** Avoids a regular expression: millions of digits would overflow its stack. */
function endOfDigits(text: string, start: number): number {
  let end = start;
  while (text.charCodeAt(end) >= ZERO && text.charCodeAt(end) <= ZERO + 9) {
    end += 1;
  }
  return end;
}

/** Whether digits are a whole JSON number, not the fraction or exponent of one. */
function isInteger(text: string, start: number, end: number): boolean {
  return (
    /^-?[1-9]/.test(text.slice(start, start + 2)) &&
    !/[.eE+-]/.test(text[start - 1] ?? '') &&
    !/[.eE]/.test(text[end] ?? '')
  );
}
