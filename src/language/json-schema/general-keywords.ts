import { isJsonObject } from '../../common/json.js';
import {
  type Application,
  type Keyword,
  type RunningCheck,
  ANYTHING,
  LIST,
  SCHEMA,
  SCHEMAS,
  TEXT,
  simple,
} from './keyword.types.js';

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  integer: (value) => typeof value === 'number' && Number.isInteger(value),
  string: (value) => typeof value === 'string',
  array: (value) => Array.isArray(value),
  object: isJsonObject,
};

const STEPS_A_TYPE = 0.25;
const COMPARED_CHARACTERS_A_STEP = 256;

const isAnything = (value: unknown): value is unknown => value !== undefined;

/** Types of values. */
export const TYPE_NAMES: readonly string[] = Object.keys(TYPES);

/** Keywords that speak of values of every type. */
export const GENERAL_KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: simple<string | string[], unknown>(
    {
      kind: 'one or several of null, boolean, number, integer, string, array and object',
      accepts: (rule) =>
        [rule].flat().every((type) => typeof type === 'string' && Object.hasOwn(TYPES, type)),
    },
    isAnything,
    (rule, value, { run }) => {
      if (typeof rule === 'string') {
        return TYPES[rule]?.(value) ?? false;
      }
      run.charge(rule.length * STEPS_A_TYPE);
      return rule.some((type) => TYPES[type]?.(value) ?? false);
    },
    (rule) => `must be of type ${[rule].flat().join(' or ')}`,
  ),
  enum: simple<unknown[], unknown>(
    LIST,
    isAnything,
    (rule, value, { run }) => rule.some((item) => isEqual(item, value, run)),
    () => 'must be one of the values that are allowed',
  ),
  const: simple<unknown, unknown>(
    ANYTHING,
    isAnything,
    (rule, value, { run }) => isEqual(rule, value, run),
    () => 'must have the value that is prescribed',
  ),
  $ref: {
    ...TEXT,
    apply({ run, schema, field, faults }, _reference, value) {
      run.apply(run.referenced(schema), value, field, faults);
    },
    *steps({ run, schema, field, faults }, _reference, value) {
      yield* run.steps(run.referenced(schema), value, field, faults);
    },
  },
  allOf: {
    ...SCHEMAS,
    apply({ run, field, faults }, rule, value) {
      (rule as unknown[]).forEach((schema) => run.apply(schema, value, field, faults));
    },
    *steps({ run, field, faults }, rule, value) {
      for (const schema of rule as unknown[]) {
        yield* run.steps(schema, value, field, faults);
      }
    },
  },
  anyOf: simple<unknown[], unknown>(
    SCHEMAS,
    isAnything,
    (rule, value, { run }) => rule.some((schema) => run.holds(schema, value)),
    () => 'must match one of several schemas',
  ),
  oneOf: simple<unknown[], unknown>(
    SCHEMAS,
    isAnything,
    (rule, value, { run }) => rule.filter((schema) => run.holds(schema, value)).length === 1,
    () => 'must match exactly one of several schemas',
  ),
  not: simple<unknown, unknown>(
    SCHEMA,
    isAnything,
    (rule, value, { run }) => !run.holds(rule, value),
    () => 'must not match a schema',
  ),
  if: { ...SCHEMA, apply: applyCondition },
};

function applyCondition({ run, schema, field, faults }: Application, rule: unknown, value: unknown): void {
  const branch = run.holds(rule, value) ? schema['then'] : schema['else'];
  if (branch !== undefined) {
    run.apply(branch, value, field, faults);
  }
}

/** Whether two JSON values are the same; the order of members means nothing. */
export function isEqual(one: unknown, other: unknown, run: RunningCheck): boolean {
  run.charge(1);
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isEqual(item, other[index], run));
  }
  if (isJsonObject(one) && isJsonObject(other)) {
    const names = run.namesOf(one);
    return (
      names.length === run.namesOf(other).length &&
      names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name], run))
    );
  }
  if (typeof one === 'string' && typeof other === 'string' && one.length === other.length) {
    run.charge(one.length / COMPARED_CHARACTERS_A_STEP);
  }
  return one === other;
}
