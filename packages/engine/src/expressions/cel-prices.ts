import { isCelList, isCelMap, type CelValue } from '@bufbuild/cel';
import { copiesOfJoined } from './cel-lists.js';
import type { CelMeter } from './cel-meter.js';
import { ExpressionError } from './expression.errors.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';

const STEPS_OF_A_TIME = 10;
const ELEMENTS_JOINED_A_STEP = 8;
const COUNTED_CHARACTERS_A_STEP = 32;
const COMPARED_CHARACTERS_A_STEP = 1_000;
const SQUARED_DIGITS_A_STEP = 500_000;

/** Pays for a call with these values: what it is a method of, where it is one, then its arguments. */
export type Price = (meter: CelMeter, values: readonly CelValue[]) => void;

/** One step for the call, and one for each 256 characters that it reads. */
const payForTexts: Price = (meter, values) => {
  meter.charge(1);
  for (const value of values) {
    if (typeof value === 'string' || value instanceof Uint8Array) {
      meter.chargeText(value.length);
    }
  }
};

/** Equality of two lists or maps goes through both; a scalar differs from either at once. */
const payForEquality: Price = (meter, values) => {
  payForTexts(meter, values);
  if (values.every((value) => isCelList(value) || isCelMap(value))) {
    values.forEach((value) => meter.chargeValue(value));
  }
};

const payForMembership: Price = (meter, values) => {
  payForTexts(meter, values);
  const [value, holder] = values;
  if (isCelList(holder)) {
    meter.chargeValue(value);
    meter.chargeValue(holder);
  }
};

const payForSum: Price = (meter, values) => {
  payForTexts(meter, values);
  const [left, right] = values;
  if (isCelList(left) && isCelList(right)) {
    checkLength(left.size + right.size, EXPRESSION_LIMITS.listLength, 'list');
    meter.charge(copiesOfJoined(left, right) / ELEMENTS_JOINED_A_STEP);
  } else if (typeof left === 'string' && typeof right === 'string') {
    checkLength(left.length + right.length, EXPRESSION_LIMITS.resultLength, 'string');
  } else if (left instanceof Uint8Array && right instanceof Uint8Array) {
    checkLength(left.length + right.length, EXPRESSION_LIMITS.resultLength, 'byte string');
  }
};

/** A time zone is looked up anew by each call, which takes a hundred microseconds. */
const payForTimeZone: Price = (meter, values) => {
  meter.charge(values.length === 1 ? STEPS_OF_A_TIME : 300);
};

/** Times and durations are parsed, written and calculated slowly, texts are short. */
const payForTime: Price = (meter, values) => {
  payForTexts(meter, values);
  meter.charge(STEPS_OF_A_TIME);
};

/** A number of many digits takes quadratic time, and one more for each digit of the error that follows. */
const payForInteger: Price = (meter, values) => {
  payForTexts(meter, values);
  const [value] = values;
  if (typeof value === 'string') {
    meter.charge(value.length / COUNTED_CHARACTERS_A_STEP + value.length ** 2 / SQUARED_DIGITS_A_STEP);
  }
};

/** What is no text may be a time. */
const payForString: Price = (meter, values) => {
  payForTexts(meter, values);
  const [value] = values;
  meter.charge(typeof value === 'object' && !(value instanceof Uint8Array) ? STEPS_OF_A_TIME : 1);
};

/** Characters of a text are counted, or written as bytes, one by one. */
const payForCharacters: Price = (meter, values) => {
  meter.charge(1);
  const [value] = values;
  if (typeof value === 'string') {
    meter.charge(value.length / COUNTED_CHARACTERS_A_STEP);
  }
};

/** At worst, each character of the text is compared with the whole text that is looked for. */
const payForSearch: Price = (meter, values) => {
  payForTexts(meter, values);
  const [text, part] = values;
  if (typeof text === 'string' && typeof part === 'string') {
    meter.charge((text.length * Math.min(part.length, text.length)) / COMPARED_CHARACTERS_A_STEP);
  }
};

/** Reading the texts is paid where the pattern is matched. */
const payForMatch: Price = (meter) => meter.charge(1);

const PRICES: Partial<Record<string, Price>> = {
  matches: payForMatch,
  '_==_': payForEquality,
  '_!=_': payForEquality,
  '@in': payForMembership,
  '_+_': payForSum,
  contains: payForSearch,
  size: payForCharacters,
  bytes: payForCharacters,
  string: payForString,
  int: payForInteger,
  uint: payForInteger,
  timestamp: payForTime,
  duration: payForTime,
};

/** What a call of a standard function pays before it is made. */
export function priceOf(name: string): Price {
  return PRICES[name] ?? (/^get[A-Z]/.test(name) ? payForTimeZone : payForTexts);
}

function checkLength(length: number, limit: number, what: string): void {
  if (length > limit) {
    throw new ExpressionError(`The expression makes a ${what} of more than ${limit} elements.`, 'limit');
  }
}
