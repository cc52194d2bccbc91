import { isJsonObject, type JsonObject } from '../../common/json.js';
import { REQUIRED_RULE } from './json-schema.types.js';
import type { Application, Keyword } from './keyword.types.js';
import { COUNT, SCHEMA, SCHEMA_MAP, TEXTS, TEXT_LIST_MAP, simple } from './rule-kinds.js';

/** Keywords of objects. */
export const OBJECT_KEYWORDS: Readonly<Record<string, Keyword>> = {
  required: {
    ...TEXTS,
    apply: forObjects(({ run, field, faults }, rule, value) => {
      (rule as string[])
        .filter((name) => !Object.hasOwn(value, name))
        .forEach((name) => run.add(faults, memberOf(field, name), REQUIRED_RULE));
    }),
  },
  properties: {
    ...SCHEMA_MAP,
    apply: forObjects(({ run, field, faults }, rule, value) => {
      for (const [name, schema] of Object.entries(rule as JsonObject)) {
        if (Object.hasOwn(value, name)) {
          run.apply(schema, value[name], memberOf(field, name), faults);
        }
      }
    }),
  },
  patternProperties: {
    ...SCHEMA_MAP,
    apply: forObjects(({ run, field, faults }, rule, value) => {
      for (const [pattern, schema] of Object.entries(rule as JsonObject)) {
        Object.keys(value)
          .filter((name) => run.matches(pattern, name))
          .forEach((name) => run.apply(schema, value[name], memberOf(field, name), faults));
      }
    }),
  },
  additionalProperties: { ...SCHEMA, apply: forObjects(applyAdditional) },
  propertyNames: {
    ...SCHEMA,
    apply: forObjects(({ run, field, faults }, rule, value) => {
      Object.keys(value)
        .filter((name) => !run.holds(rule, name))
        .forEach((name) => run.add(faults, memberOf(field, name), 'has a name that is not allowed'));
    }),
  },
  dependentRequired: {
    ...TEXT_LIST_MAP,
    apply: forObjects(({ run, field, faults }, rule, value) => {
      Object.entries(rule as Record<string, string[]>)
        .filter(([name]) => Object.hasOwn(value, name))
        .flatMap(([, names]) => names)
        .filter((name) => !Object.hasOwn(value, name))
        .forEach((name) => run.add(faults, memberOf(field, name), REQUIRED_RULE));
    }),
  },
  dependentSchemas: {
    ...SCHEMA_MAP,
    apply: forObjects(({ run, field, faults }, rule, value) => {
      Object.entries(rule as JsonObject)
        .filter(([name]) => Object.hasOwn(value, name))
        .forEach(([, schema]) => run.apply(schema, value, field, faults));
    }),
  },
  minProperties: simple<number, JsonObject>(
    COUNT,
    isJsonObject,
    (rule, value) => Object.keys(value).length >= rule,
    (rule) => `must have at least ${rule} fields`,
  ),
  maxProperties: simple<number, JsonObject>(
    COUNT,
    isJsonObject,
    (rule, value) => Object.keys(value).length <= rule,
    (rule) => `must have at most ${rule} fields`,
  ),
};

/** Holds for the members that neither `properties` nor `patternProperties` beside it speak of. */
function applyAdditional(application: Application, rule: unknown, value: JsonObject): void {
  const { run, schema, field, faults } = application;
  const named = (schema['properties'] ?? {}) as JsonObject;
  const patterns = Object.keys(schema['patternProperties'] ?? {});
  for (const [name, member] of Object.entries(value)) {
    if (!Object.hasOwn(named, name) && !patterns.some((pattern) => run.matches(pattern, name))) {
      run.apply(rule, member, memberOf(field, name), faults);
    }
  }
}

function forObjects(
  apply: (application: Application, rule: unknown, value: JsonObject) => void,
): Keyword['apply'] {
  return (application, rule, value) => {
    if (isJsonObject(value)) {
      apply(application, rule, value);
    }
  };
}

function memberOf(field: string, name: string): string {
  return field === '' ? name : `${field}.${name}`;
}
