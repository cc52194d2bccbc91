import { isCelList, isCelMap, type CelValue } from '@bufbuild/cel';
import { countCopies } from './cel-lists.js';
import type { CelMeter } from './cel-meter.js';
import { ExpressionError } from './expression.errors.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';

const STEPS_OF_A_TIME = 10;
const ELEMENTS_JOINED_A_STEP = 8;
const COUNTED_CHARACTERS_A_STEP = 32;
const COMPARED_CHARACTERS_A_STEP = 1_000;
const SQUARED_DIGITS_A_STEP = 500_000;

/** Charges for a call. Values are the receiver, for a method, and the arguments. */
export type Price = (meter: CelMeter, values: readonly CelValue[]) => void;

/** Charges one step for the call and one per 256 characters read. */
const payForTexts: Price = (meter, values) => {
  meter.charge(1);
  for (const value of values) {
    if (typeof value === 'string' || value instanceof Uint8Array) {
      meter.chargeText(value.length);
    }
  }
};

/** Charges for all elements of two lists or maps; comparing with a scalar ends at once. */
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
    meter.charge(countCopies(left, right) / ELEMENTS_JOINED_A_STEP);
  } else if (typeof left === 'string' && typeof right === 'string') {
    checkLength(left.length + right.length, EXPRESSION_LIMITS.resultLength, 'string');
  } else if (left instanceof Uint8Array && right instanceof Uint8Array) {
    checkLength(left.length + right.length, EXPRESSION_LIMITS.resultLength, 'byte string');
  }
};

/** Every call looks up its time zone again, which takes a hundred microseconds. */
const payForTimeZone: Price = (meter, values) => {
  meter.charge(values.length === 1 ? STEPS_OF_A_TIME : 300);
};

/** Parsing, formatting and computing times and durations is slow, although their texts are short. */
const payForTime: Price = (meter, values) => {
  payForTexts(meter, values);
  meter.charge(STEPS_OF_A_TIME);
};

/** Parsing many digits takes quadratic time, and the error message grows with each digit. */
const payForInteger: Price = (meter, values) => {
  payForTexts(meter, values);
  const [value] = values;
  if (typeof value === 'string') {
    meter.charge(value.length / COUNTED_CHARACTERS_A_STEP + value.length ** 2 / SQUARED_DIGITS_A_STEP);
  }
};

/** Objects other than bytes may be times. */
const payForString: Price = (meter, values) => {
  payForTexts(meter, values);
  const [value] = values;
  meter.charge(typeof value === 'object' && !(value instanceof Uint8Array) ? STEPS_OF_A_TIME : 1);
};

/** Counting or encoding a string visits every character. */
const payForCharacters: Price = (meter, values) => {
  meter.charge(1);
  const [value] = values;
  if (typeof value === 'string') {
    meter.charge(value.length / COUNTED_CHARACTERS_A_STEP);
  }
};

/** At worst, the search term is compared at every character of the text. */
const payForSearch: Price = (meter, values) => {
  payForTexts(meter, values);
  const [text, part] = values;
  if (typeof text === 'string' && typeof part === 'string') {
    meter.charge((text.length * Math.min(part.length, text.length)) / COMPARED_CHARACTERS_A_STEP);
  }
};

/** Matching charges for reading the texts. */
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

/** Returns the price of a standard function, charged before the call. */
export function priceOf(name: string): Price {
  return PRICES[name] ?? (/^get[A-Z]/.test(name) ? payForTimeZone : payForTexts);
}

function checkLength(length: number, limit: number, what: string): void {
  if (length > limit) {
    throw new ExpressionError(`The expression creates a ${what} of more than ${limit} elements.`, 'limit');
  }
}
