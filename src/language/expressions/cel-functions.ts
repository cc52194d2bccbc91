import {
  celEnv,
  celFunc,
  celList,
  CelScalar,
  isCelList,
  isCelMap,
  type CelEnv,
  type CelFunc,
  type CelList,
  type CelValue,
} from '@bufbuild/cel';
import type { CelMeter } from './cel-meter.js';
import { HAS_FUNCTION, RANGE_FUNCTION, READ_FUNCTION } from './cel-tree.js';
import { ExpressionError } from './expression.errors.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';
import { regexPrice } from './regex-price.js';

/** Nodes of a tree that one step pays for; calls pay for themselves as well. */
export const NODES_A_STEP = 2;

/** Steps of what is done with a time or a duration. */
const STEPS_OF_A_TIME = 10;
const ELEMENTS_JOINED_A_STEP = 64;
const COUNTED_CHARACTERS_A_STEP = 32;
const COMPARED_CHARACTERS_A_STEP = 1_000;

type FuncGroup = NonNullable<ReturnType<CelEnv['funcs']['find']>>;
type Call = FuncGroup['call'];

const { DOUBLE, INT } = CelScalar;

/** Every number of JSON is a double to CEL while `1` in an expression is an int, so each operator also takes both. */
function mixed(name: string, operate: (left: number, right: number) => number): CelFunc[] {
  return [
    celFunc(name, [DOUBLE, INT], DOUBLE, (left, right) => operate(left, Number(right))),
    celFunc(name, [INT, DOUBLE], DOUBLE, (left, right) => operate(Number(left), right)),
  ];
}

/** CEL knows no remainder of doubles; JSON data has no other numbers, so whole ones are taken. */
function remainder(left: number, right: number): number {
  if (!Number.isSafeInteger(left) || !Number.isSafeInteger(right)) {
    throw new Error('the remainder is of whole numbers only');
  }
  if (right === 0) {
    throw new Error('modulus by zero');
  }
  return left % right;
}

const ARITHMETIC: readonly CelFunc[] = [
  ...mixed('_+_', (left, right) => left + right),
  ...mixed('_-_', (left, right) => left - right),
  ...mixed('_*_', (left, right) => left * right),
  ...mixed('_/_', (left, right) => left / right),
  ...mixed('_%_', remainder),
  celFunc('_%_', [DOUBLE, DOUBLE], DOUBLE, remainder),
];

const ENVIRONMENT = celEnv({ funcs: [...ARITHMETIC] });

/** Whether a function or method of this name exists. */
export function isCelFunction(name: string): boolean {
  return ENVIRONMENT.funcs.find(name) !== undefined;
}

/** The environment of one compiled expression: the standard functions, each of which pays for its work. */
export function meteredEnvironment(meter: CelMeter): CelEnv {
  const standard = ENVIRONMENT.funcs;
  const funcs = Object.create(standard, {
    find: { value: (name: string) => meteredGroup(name, standard.find(name), meter) },
  }) as CelEnv['funcs'];
  return Object.create(ENVIRONMENT, { funcs: { value: funcs } }) as CelEnv;
}

function meteredGroup(name: string, group: FuncGroup | undefined, meter: CelMeter): FuncGroup | undefined {
  const call = group === undefined ? ownCall(name, meter) : meteredCall(name, group, meter);
  return call && { name, call, [Symbol.iterator]: () => [][Symbol.iterator]() };
}

function ownCall(name: string, meter: CelMeter): Call | undefined {
  switch (name) {
    case READ_FUNCTION:
      return (_id, _target, [value]) => value;
    case HAS_FUNCTION:
      return (_id, _target, [holder, field]) => hasMember(holder, field);
    case RANGE_FUNCTION:
      return (_id, _target, [range, size]) => boundedRange(range, Number(size), meter);
    default:
      return undefined;
  }
}

function meteredCall(name: string, group: FuncGroup, meter: CelMeter): Call {
  const pay = PRICES[name] ?? payForTexts;
  if (name === '_+_') {
    return (id, target, args) => {
      pay(meter, target, args);
      const [left, right] = args;
      return isCelList(left) && isCelList(right) ? joined(left, right) : group.call(id, target, args);
    };
  }
  if (name === '@in') {
    return (id, target, args) => {
      pay(meter, target, args);
      const [key, holder] = args;
      return isCelMap(holder) && typeof key === 'string'
        ? hasMember(holder, key)
        : group.call(id, target, args);
    };
  }
  return (id, target, args) => {
    pay(meter, target, args);
    return group.call(id, target, args);
  };
}

type Price = (meter: CelMeter, target: CelValue | undefined, args: readonly CelValue[]) => void;

/** One step for the call, and one for each 256 characters that it reads. */
const payForTexts: Price = (meter, target, args) => {
  meter.charge(1);
  for (const value of target === undefined ? args : [target, ...args]) {
    if (typeof value === 'string' || value instanceof Uint8Array) {
      meter.chargeText(value.length);
    }
  }
};

/** Equality of two lists or maps goes through both; a scalar differs from either at once. */
const payForEquality: Price = (meter, target, args) => {
  payForTexts(meter, target, args);
  if (args.every(isContainer)) {
    args.forEach((value) => meter.chargeValue(value));
  }
};

const payForMembership: Price = (meter, target, args) => {
  payForTexts(meter, target, args);
  const [value, holder] = args;
  if (isCelList(holder)) {
    meter.chargeValue(value);
    meter.chargeValue(holder);
  }
};

const payForMatch: Price = (meter, target, args) => {
  const [text, pattern] = target === undefined ? args : [target, ...args];
  if (typeof text === 'string' && typeof pattern === 'string') {
    meter.charge(regexPrice(text.length, pattern));
  }
};

const payForSum: Price = (meter, target, args) => {
  payForTexts(meter, target, args);
  const [left, right] = args;
  if (isCelList(left) && isCelList(right)) {
    checkLength(left.size + right.size, EXPRESSION_LIMITS.listLength, 'list');
    meter.charge((left.size + right.size) / ELEMENTS_JOINED_A_STEP);
  } else if (typeof left === 'string' && typeof right === 'string') {
    checkLength(left.length + right.length, EXPRESSION_LIMITS.resultLength, 'string');
  } else if (left instanceof Uint8Array && right instanceof Uint8Array) {
    checkLength(left.length + right.length, EXPRESSION_LIMITS.resultLength, 'byte string');
  }
};

/** A time zone is looked up anew by each call, which takes a hundred microseconds. */
const payForTimeZone: Price = (meter, _target, args) => {
  meter.charge(args.length === 0 ? STEPS_OF_A_TIME : 300);
};

/** Times and durations are parsed, written and calculated slowly, texts are short. */
const payForTime: Price = (meter, target, args) => {
  payForTexts(meter, target, args);
  meter.charge(STEPS_OF_A_TIME);
};

/** What is no text may be a time. */
const payForString: Price = (meter, target, args) => {
  payForTexts(meter, target, args);
  const [value] = args;
  meter.charge(typeof value === 'object' && !(value instanceof Uint8Array) ? STEPS_OF_A_TIME : 1);
};

/** Characters of a text are counted one by one. */
const payForSize: Price = (meter, target, args) => {
  meter.charge(1);
  const [value] = target === undefined ? args : [target];
  if (typeof value === 'string') {
    meter.charge(value.length / COUNTED_CHARACTERS_A_STEP);
  }
};

/** At worst, each character of the text is compared with all of what is looked for. */
const payForSearch: Price = (meter, target, args) => {
  payForTexts(meter, target, args);
  const [text, part] = target === undefined ? args : [target, ...args];
  if (typeof text === 'string' && typeof part === 'string') {
    meter.charge((text.length * Math.min(part.length, text.length)) / COMPARED_CHARACTERS_A_STEP);
  }
};

const PRICES: Partial<Record<string, Price>> = {
  '_==_': payForEquality,
  '_!=_': payForEquality,
  '@in': payForMembership,
  '_+_': payForSum,
  matches: payForMatch,
  contains: payForSearch,
  size: payForSize,
  string: payForString,
  timestamp: payForTime,
  duration: payForTime,
  ...Object.fromEntries(
    [...ENVIRONMENT.funcs]
      .filter(({ name }) => /^get[A-Z]/.test(name))
      .map(({ name }) => [name, payForTimeZone]),
  ),
};

function isContainer(value: CelValue): boolean {
  return isCelList(value) || isCelMap(value);
}

function checkLength(length: number, limit: number, what: string): void {
  if (length > limit) {
    throw new ExpressionError(`The expression makes a ${what} of more than ${limit} elements.`, 'limit');
  }
}

/** Arrays behind the lists that `+` made or was given. The library nests joined lists, and reading those takes quadratic time. */
const elementsOfLists = new WeakMap<CelList, readonly CelValue[]>();

function joined(left: CelList, right: CelList): CelList {
  const elements = [...elementsOf(left), ...elementsOf(right)];
  const list = celList(elements);
  elementsOfLists.set(list, elements);
  return list;
}

function elementsOf(list: CelList): readonly CelValue[] {
  const elements = elementsOfLists.get(list) ?? Array.from(list);
  elementsOfLists.set(list, elements);
  return elements;
}

/** A member that is null is there (CEL language definition, field selection); the library says it is not. */
function hasMember(holder: CelValue | undefined, field: CelValue | undefined): boolean {
  return isCelMap(holder) && typeof field === 'string' && holder.get(field) !== undefined;
}

function boundedRange(range: CelValue | undefined, bodySize: number, meter: CelMeter): CelValue | undefined {
  if (isCelList(range) || isCelMap(range)) {
    if (range.size > EXPRESSION_LIMITS.macroElements) {
      throw new ExpressionError(
        `A macro goes through at most ${EXPRESSION_LIMITS.macroElements} elements, not ${range.size}.`,
        'limit',
      );
    }
    meter.charge(1 + range.size * (1 + bodySize / NODES_A_STEP));
  }
  return range;
}
