import {
  celEnv,
  celError,
  celFunc,
  CelScalar,
  isCelError,
  isCelList,
  isCelMap,
  type CelEnv,
  type CelFunc,
  type CelValue,
} from '@bufbuild/cel';
import type { CelMeter } from './cel-meter.js';
import { concatenated } from './cel-lists.js';
import { priceOf } from './cel-prices.js';
import { HAS_FUNCTION, RANGE_FUNCTION, READ_FUNCTION } from './cel-tree.js';
import { ExpressionError } from './expression.errors.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';

/** Tree nodes per step of work. Calls are charged in addition. */
export const NODES_A_STEP = 2;

const STEPS_OF_A_FAILURE = 15;
const STEPS_OF_A_TEST = 2;

type FuncGroup = NonNullable<ReturnType<CelEnv['funcs']['find']>>;
type Call = FuncGroup['call'];

const { DOUBLE, INT } = CelScalar;

/** Overloads an operator for int with double: CEL reads JSON numbers as doubles, but `1` in an expression as an int. */
function mixed(name: string, operate: (left: number, right: number) => number): CelFunc[] {
  return [
    celFunc(name, [DOUBLE, INT], DOUBLE, (left, right) => operate(left, Number(right))),
    celFunc(name, [INT, DOUBLE], DOUBLE, (left, right) => operate(Number(left), right)),
  ];
}

/** Computes the remainder of whole doubles: CEL defines it only for integers, but JSON data has only doubles. */
function remainder(left: number, right: number): number {
  if (!Number.isSafeInteger(left) || !Number.isSafeInteger(right)) {
    throw new Error('the remainder needs whole numbers');
  }
  if (right === 0) {
    throw new Error('modulus by zero');
  }
  return left % right;
}

/** Rejects division by zero. CEL returns infinity for doubles, but authors cannot choose between int and double here. */
function quotient(left: number, right: number): number {
  if (right === 0) {
    throw new Error('division by zero');
  }
  return left / right;
}

const ARITHMETIC: readonly CelFunc[] = [
  ...mixed('_+_', (left, right) => left + right),
  ...mixed('_-_', (left, right) => left - right),
  ...mixed('_*_', (left, right) => left * right),
  ...mixed('_/_', quotient),
  celFunc('_/_', [DOUBLE, DOUBLE], DOUBLE, quotient),
  ...mixed('_%_', remainder),
  celFunc('_%_', [DOUBLE, DOUBLE], DOUBLE, remainder),
];

const ENVIRONMENT = celEnv({ funcs: [...ARITHMETIC] });

/** Whether a function or method with this name exists. */
export function isCelFunction(name: string): boolean {
  return ENVIRONMENT.funcs.find(name) !== undefined;
}

/** Creates the environment of one compiled expression: the standard functions, each charged for its work. */
export function meteredEnvironment(meter: CelMeter): CelEnv {
  const standard = ENVIRONMENT.funcs;
  const funcs = Object.create(standard, {
    find: { value: (name: string) => meteredGroup(name, standard.find(name), meter) },
  }) as CelEnv['funcs'];
  return Object.create(ENVIRONMENT, { funcs: { value: funcs } }) as CelEnv;
}

function meteredGroup(name: string, group: FuncGroup | undefined, meter: CelMeter): FuncGroup | undefined {
  const call =
    group === undefined ? ownCall(name, meter) : payingForFailure(meteredCall(name, group, meter), meter);
  return call && { name, call, [Symbol.iterator]: () => [][Symbol.iterator]() };
}

/** Charges for failures: each builds a message with all arguments, even if `||` swallows it. */
function payingForFailure(call: Call, meter: CelMeter): Call {
  return (id, target, args) => {
    const result = call(id, target, args);
    if (result === undefined || isCelError(result)) {
      meter.charge(STEPS_OF_A_FAILURE);
    }
    return result;
  };
}

function ownCall(name: string, meter: CelMeter): Call | undefined {
  switch (name) {
    case READ_FUNCTION:
      return (_id, _target, [value]) => value;
    case HAS_FUNCTION:
      return (_id, _target, [holder, field]) => {
        meter.charge(STEPS_OF_A_TEST);
        return hasMember(holder, field);
      };
    case RANGE_FUNCTION:
      return (_id, _target, [range, size]) => boundedRange(range, Number(size), meter);
    default:
      return undefined;
  }
}

type OwnCall = (meter: CelMeter, values: readonly CelValue[], id: number) => ReturnType<Call>;

/** Calls that the library implements differently or slowly. Undefined falls back to the library. */
const OWN_CALLS: Partial<Record<string, OwnCall>> = {
  '_+_': (_meter, [left, right]) =>
    isCelList(left) && isCelList(right) ? concatenated(left, right) : undefined,
  '@in': (_meter, [key, holder]) =>
    isCelMap(holder) && typeof key === 'string' ? hasMember(holder, key) : undefined,
  matches: (meter, [text, pattern, ...others], id) =>
    typeof text === 'string' && typeof pattern === 'string' && others.length === 0
      ? matched(id, text, pattern, meter)
      : undefined,
};

function meteredCall(name: string, group: FuncGroup, meter: CelMeter): Call {
  const pay = priceOf(name);
  const own = OWN_CALLS[name];
  return (id, target, args) => {
    const values = target === undefined ? args : [target, ...args];
    pay(meter, values);
    return own?.(meter, values, id) ?? group.call(id, target, args);
  };
}

/** Turns an invalid pattern into an error value; an exhausted budget ends the whole evaluation. */
function matched(id: number, text: string, pattern: string, meter: CelMeter): ReturnType<Call> {
  try {
    return meter.matches(text, pattern);
  } catch (error) {
    if (error instanceof ExpressionError) {
      throw error;
    }
    return celError(error, id);
  }
}

/** Whether a map has a member. A null member exists (CEL language definition, field selection), but not for the library. */
function hasMember(holder: CelValue | undefined, field: CelValue | undefined): boolean {
  return isCelMap(holder) && typeof field === 'string' && holder.get(field) !== undefined;
}

function boundedRange(range: CelValue | undefined, bodySize: number, meter: CelMeter): CelValue | undefined {
  if (isCelList(range) || isCelMap(range)) {
    if (range.size > EXPRESSION_LIMITS.macroElements) {
      throw new ExpressionError(
        `A macro iterates over at most ${EXPRESSION_LIMITS.macroElements} elements, not ${range.size}.`,
        'limit',
      );
    }
    meter.charge(1 + range.size * (1 + bodySize / NODES_A_STEP));
  }
  return range;
}
