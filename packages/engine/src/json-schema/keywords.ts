import { isJsonObject, type JsonObject } from '../json/json.js';
import { REQUIRED_RULE } from './json-schema.types.js';
import {
  type Application,
  type Keyword,
  type RunningCheck,
  ANYTHING,
  COUNT,
  FLAG,
  LIST,
  SCHEMA,
  SCHEMA_MAP,
  SCHEMAS,
  TEXT,
  TEXT_LIST_MAP,
  TEXTS,
  applicatorKeyword,
  isAnything,
  isList,
  memberOf,
  memberKeyword,
  valueKeyword,
} from './keyword.types.js';
import { SCALAR_KEYWORDS } from './scalar-keywords.js';

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
const STEPS_A_LOOKUP = 0.25;
const COMPARED_CHARACTERS_A_STEP = 256;
const ITEMS_WITHOUT_BREAK = 64;

/** JSON Schema type names. */
export const TYPE_NAMES: readonly string[] = Object.keys(TYPES);

const GENERAL_KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: valueKeyword(
    {
      kind: 'one or more of null, boolean, number, integer, string, array and object',
      accepts: (rule): rule is string | string[] =>
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
    'must be of type %',
  ),
  enum: valueKeyword(
    LIST,
    isAnything,
    (rule, value, { run }) => rule.some((item) => isEqual(item, value, run)),
    'must be one of the allowed values',
  ),
  const: valueKeyword(
    ANYTHING,
    isAnything,
    (rule, value, { run }) => isEqual(rule, value, run),
    'must have the required value',
  ),
  $ref: applicatorKeyword(TEXT, isAnything, (_reference, value, { run, schema, field }) => [
    [run.referenced(schema), value, field],
  ]),
  allOf: applicatorKeyword(SCHEMAS, isAnything, (rule, value, { field }) =>
    rule.map((schema) => [schema, value, field]),
  ),
  anyOf: valueKeyword(
    SCHEMAS,
    isAnything,
    (rule, value, { run }) => rule.some((schema) => run.holds(schema, value)),
    'must match one of several schemas',
  ),
  oneOf: valueKeyword(
    SCHEMAS,
    isAnything,
    (rule, value, { run }) => rule.filter((schema) => run.holds(schema, value)).length === 1,
    'must match exactly one of several schemas',
  ),
  not: valueKeyword(
    SCHEMA,
    isAnything,
    (rule, value, { run }) => !run.holds(rule, value),
    'must not match a schema',
  ),
  if: applicatorKeyword(SCHEMA, isAnything, (rule, value, { run, schema, field }) => {
    const branch = run.holds(rule, value) ? schema['then'] : schema['else'];
    return branch === undefined ? [] : [[branch, value, field]];
  }),
};

const OBJECT_KEYWORDS: Readonly<Record<string, Keyword>> = {
  required: memberKeyword(
    TEXTS,
    (rule, value, run) => {
      run.charge(rule.length * STEPS_A_LOOKUP);
      return rule.filter((name) => !Object.hasOwn(value, name));
    },
    REQUIRED_RULE,
  ),
  properties: applicatorKeyword(SCHEMA_MAP, isJsonObject, (rule, value, { run, field }) =>
    run.namesInBoth(rule, value).map((name) => [rule[name], value[name], memberOf(field, name)]),
  ),
  patternProperties: applicatorKeyword(SCHEMA_MAP, isJsonObject, (rule, value, { run, field }) =>
    Object.entries(rule).flatMap(([pattern, schema]) => {
      const names = run.namesOf(value).filter((name) => run.matches(pattern, name));
      return names.map((name) => [schema, value[name], memberOf(field, name)] as const);
    }),
  ),
  // Applies to members that neither `properties` nor `patternProperties` of the same schema cover.
  additionalProperties: applicatorKeyword(SCHEMA, isJsonObject, (rule, value, { run, schema, field }) => {
    const named = (schema['properties'] ?? {}) as JsonObject;
    const patterns = Object.keys(schema['patternProperties'] ?? {});
    const names = run.namesOf(value);
    run.charge(names.length * STEPS_A_LOOKUP);
    return names
      .filter((name) => !Object.hasOwn(named, name) && !patterns.some((each) => run.matches(each, name)))
      .map((name) => [rule, value[name], memberOf(field, name)]);
  }),
  propertyNames: memberKeyword(
    SCHEMA,
    (rule, value, run) => run.namesOf(value).filter((name) => !run.holds(rule, name)),
    'is not an allowed name',
  ),
  dependentRequired: memberKeyword(
    TEXT_LIST_MAP,
    (rule, value, run) => {
      const names = run.namesInBoth(rule, value).flatMap((name) => rule[name] ?? []);
      run.charge(names.length * STEPS_A_LOOKUP);
      return names.filter((name) => !Object.hasOwn(value, name));
    },
    REQUIRED_RULE,
  ),
  dependentSchemas: applicatorKeyword(SCHEMA_MAP, isJsonObject, (rule, value, { run, field }) =>
    run.namesInBoth(rule, value).map((name) => [rule[name], value, field]),
  ),
  minProperties: valueKeyword(
    COUNT,
    isJsonObject,
    (rule, value, { run }) => run.namesOf(value).length >= rule,
    'must have at least % fields',
  ),
  maxProperties: valueKeyword(
    COUNT,
    isJsonObject,
    (rule, value, { run }) => run.namesOf(value).length <= rule,
    'must have at most % fields',
  ),
};

const ARRAY_KEYWORDS: Readonly<Record<string, Keyword>> = {
  prefixItems: applicatorKeyword(SCHEMAS, isList, (rule, value, { field }) =>
    rule.slice(0, value.length).map((schema, index) => [schema, value[index], `${field}[${index}]`]),
  ),
  items: {
    ...SCHEMA,
    apply({ run, schema, field }, rule, value) {
      if (isList(value)) {
        for (let index = firstItem(schema); index < value.length && !run.isFull; index += 1) {
          run.apply(rule, value[index], `${field}[${index}]`);
        }
      }
    },
    *steps({ run, schema, field }, rule, value) {
      if (isList(value)) {
        for (let index = firstItem(schema); index < value.length && !run.isFull; index += 1) {
          if (index % ITEMS_WITHOUT_BREAK === 0) {
            yield;
          }
          const item = value[index];
          if (isList(item) && item.length > ITEMS_WITHOUT_BREAK) {
            yield* run.steps(rule, item, `${field}[${index}]`);
          } else {
            run.apply(rule, item, `${field}[${index}]`);
          }
        }
      }
    },
  },
  contains: valueKeyword(
    SCHEMA,
    isList,
    containsEnough,
    'must contain the required number of matching elements',
  ),
  // `contains` evaluates these.
  minContains: { ...COUNT, apply: () => undefined },
  maxContains: { ...COUNT, apply: () => undefined },
  minItems: valueKeyword(
    COUNT,
    isList,
    (rule, value) => value.length >= rule,
    'must have at least % elements',
  ),
  maxItems: valueKeyword(
    COUNT,
    isList,
    (rule, value) => value.length <= rule,
    'must have at most % elements',
  ),
  uniqueItems: valueKeyword(
    FLAG,
    isList,
    (rule, value, { run }) =>
      !rule ||
      value.every((item, index) => value.slice(index + 1).every((other) => !isEqual(item, other, run))),
    'must not have equal elements',
  ),
};

/** Keywords that assert something about values (JSON Schema Core and Validation, draft 2020-12). */
export const KEYWORDS: Readonly<Record<string, Keyword>> = {
  ...GENERAL_KEYWORDS,
  ...SCALAR_KEYWORDS,
  ...OBJECT_KEYWORDS,
  ...ARRAY_KEYWORDS,
};

/** Returns the index of the first item that `items` applies to; `prefixItems` covers the ones before. */
function firstItem(schema: JsonObject): number {
  return isList(schema['prefixItems']) ? schema['prefixItems'].length : 0;
}

function containsEnough(rule: unknown, value: unknown[], { run, schema }: Application): boolean {
  const count = value.filter((item) => run.holds(rule, item)).length;
  return count >= Number(schema['minContains'] ?? 1) && count <= Number(schema['maxContains'] ?? Infinity);
}

/** Whether two JSON values are equal, regardless of the order of members. */
function isEqual(one: unknown, other: unknown, run: RunningCheck): boolean {
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
