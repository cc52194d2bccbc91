import ipaddr from 'ipaddr.js';
import {
  type Application,
  type Keyword,
  type RunningCheck,
  COUNT,
  NUMBER,
  TEXT,
  isNumber,
  isText,
  valueKeyword,
} from './keyword.types.js';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const EMAIL = /^[^\s@"]{1,64}@[^\s@.]+(\.[^\s@.]+)*$/;
const MAX_FORMAT_LENGTH = 2_048;
const STEPS_A_FORMAT = 5;
const FORMAT_CHARACTERS_A_STEP = 16;
const COUNTED_CHARACTERS_A_STEP = 16;

/** Formats that are checked; all others are annotations, as the standard allows. No pattern backtracks. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: (text) => TIME.test(text),
  'date-time': isDateTime,
  uuid: (text) => UUID.test(text),
  email: (text) => EMAIL.test(text),
  uri: (text) => /^[a-z][a-z0-9+.-]*:[^\s]*$/i.test(text) && URL.canParse(text),
  ipv4: (text) => ipaddr.IPv4.isValidFourPartDecimal(text),
  ipv6: (text) => ipaddr.IPv6.isValid(text),
};

/** Keywords of numbers and strings. */
export const SCALAR_KEYWORDS: Readonly<Record<string, Keyword>> = {
  minimum: valueKeyword(NUMBER, isNumber, (rule, value) => value >= rule, 'must be at least %'),
  maximum: valueKeyword(NUMBER, isNumber, (rule, value) => value <= rule, 'must be at most %'),
  exclusiveMinimum: valueKeyword(NUMBER, isNumber, (rule, value) => value > rule, 'must be more than %'),
  exclusiveMaximum: valueKeyword(NUMBER, isNumber, (rule, value) => value < rule, 'must be less than %'),
  multipleOf: valueKeyword(
    { kind: 'a number above 0', accepts: (rule): rule is number => isNumber(rule) && rule > 0 },
    isNumber,
    isMultiple,
    'must be a multiple of %',
  ),
  minLength: valueKeyword(
    COUNT,
    isText,
    (rule, value, { run }) =>
      value.length >= rule && (value.length >= rule * 2 || lengthOf(value, run) >= rule),
    'must have at least % characters',
  ),
  maxLength: valueKeyword(
    COUNT,
    isText,
    (rule, value, { run }) =>
      value.length <= rule || (value.length <= rule * 2 && lengthOf(value, run) <= rule),
    'must have at most % characters',
  ),
  pattern: valueKeyword(
    TEXT,
    isText,
    (rule, value, { run }) => run.matches(rule, value),
    'must match the required pattern',
  ),
  format: valueKeyword(TEXT, isText, hasFormat, 'must have the format %'),
};

function hasFormat(format: string, text: string, { run }: Application): boolean {
  if (!Object.hasOwn(FORMATS, format)) {
    return true;
  }
  if (text.length > MAX_FORMAT_LENGTH) {
    return false;
  }
  run.charge(STEPS_A_FORMAT + text.length / FORMAT_CHARACTERS_A_STEP);
  return FORMATS[format]?.(text) ?? true;
}

/** Tolerates rounding: 0.3 is a multiple of 0.1, although their binary quotient is not a whole number. */
function isMultiple(of: number, value: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.max(1, Math.abs(quotient));
}

/** Returns the length in code points. */
function lengthOf(text: string, run: RunningCheck): number {
  run.charge(text.length / COUNTED_CHARACTERS_A_STEP);
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    // A surrogate pair takes two UTF-16 units.
    index += (text.codePointAt(index) ?? 0) > 0xffff ? 1 : 0;
    length += 1;
  }
  return length;
}

function isDate(text: string): boolean {
  if (!DATE.test(text)) {
    return false;
  }
  const time = Date.parse(`${text}T00:00:00Z`);
  // `Date.parse` may turn a day that the month does not have into one of the next month.
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  return /^[T ]$/i.test(text[10] ?? '') && isDate(text.slice(0, 10)) && TIME.test(text.slice(11));
}
