import { isJsonObject, type JsonObject } from '../../common/json.js';
import { REQUIRED_RULE } from './json-schema.types.js';
import {
  type Application,
  type Keyword,
  COUNT,
  SCHEMA,
  SCHEMA_MAP,
  TEXTS,
  TEXT_LIST_MAP,
  simple,
} from './keyword.types.js';

const STEPS_A_LOOKUP = 0.25;

/** Keywords of objects. */
export const OBJECT_KEYWORDS: Readonly<Record<string, Keyword>> = {
  required: {
    ...TEXTS,
    apply: forObjects(({ run, field, faults }, rule, value) => {
      run.charge((rule as string[]).length * STEPS_A_LOOKUP);
      (rule as string[])
        .filter((name) => !Object.hasOwn(value, name))
        .forEach((name) => run.add(faults, memberOf(field, name), () => REQUIRED_RULE));
    }),
  },
  properties: {
    ...SCHEMA_MAP,
    apply: forObjects(({ run, field, faults }, rule, value) => {
      for (const name of run.namesInBoth(rule as JsonObject, value)) {
        run.apply((rule as JsonObject)[name], value[name], memberOf(field, name), faults);
      }
    }),
    *steps({ run, field, faults }, rule, value) {
      if (isJsonObject(value)) {
        for (const name of run.namesInBoth(rule as JsonObject, value)) {
          yield* run.steps((rule as JsonObject)[name], value[name], memberOf(field, name), faults);
        }
      }
    },
  },
  patternProperties: {
    ...SCHEMA_MAP,
    apply: forObjects(({ run, field, faults }, rule, value) => {
      for (const [pattern, schema] of Object.entries(rule as JsonObject)) {
        run
          .namesOf(value)
          .filter((name) => run.matches(pattern, name))
          .forEach((name) => run.apply(schema, value[name], memberOf(field, name), faults));
      }
    }),
  },
  additionalProperties: { ...SCHEMA, apply: forObjects(applyAdditional) },
  propertyNames: {
    ...SCHEMA,
    apply: forObjects(({ run, field, faults }, rule, value) => {
      run
        .namesOf(value)
        .filter((name) => !run.holds(rule, name))
        .forEach((name) => run.add(faults, memberOf(field, name), () => 'has a name that is not allowed'));
    }),
  },
  dependentRequired: {
    ...TEXT_LIST_MAP,
    apply: forObjects(({ run, field, faults }, rule, value) => {
      run
        .namesInBoth(rule as JsonObject, value)
        .flatMap((name) => {
          const names = (rule as Record<string, string[]>)[name] ?? [];
          run.charge(names.length * STEPS_A_LOOKUP);
          return names;
        })
        .filter((name) => !Object.hasOwn(value, name))
        .forEach((name) => run.add(faults, memberOf(field, name), () => REQUIRED_RULE));
    }),
  },
  dependentSchemas: {
    ...SCHEMA_MAP,
    apply: forObjects(({ run, field, faults }, rule, value) => {
      run
        .namesInBoth(rule as JsonObject, value)
        .forEach((name) => run.apply((rule as JsonObject)[name], value, field, faults));
    }),
  },
  minProperties: simple<number, JsonObject>(
    COUNT,
    isJsonObject,
    (rule, value, { run }) => run.namesOf(value).length >= rule,
    (rule) => `must have at least ${rule} fields`,
  ),
  maxProperties: simple<number, JsonObject>(
    COUNT,
    isJsonObject,
    (rule, value, { run }) => run.namesOf(value).length <= rule,
    (rule) => `must have at most ${rule} fields`,
  ),
};

/** Holds for the members that neither `properties` nor `patternProperties` beside it speak of. */
function applyAdditional(application: Application, rule: unknown, value: JsonObject): void {
  const { run, schema, field, faults } = application;
  const named = (schema['properties'] ?? {}) as JsonObject;
  const patterns = Object.keys(schema['patternProperties'] ?? {});
  const names = run.namesOf(value);
  run.charge(names.length * STEPS_A_LOOKUP);
  for (const name of names) {
    if (!Object.hasOwn(named, name) && !patterns.some((pattern) => run.matches(pattern, name))) {
      run.apply(rule, value[name], memberOf(field, name), faults);
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
