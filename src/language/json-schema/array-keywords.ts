import type { JsonObject } from '../../common/json.js';
import { isEqual } from './general-keywords.js';
import {
  type Application,
  type Keyword,
  COUNT,
  FLAG,
  SCHEMA,
  SCHEMAS,
  isList,
  simple,
} from './keyword.types.js';

const ITEMS_WITHOUT_BREAK = 64;

/** Keywords of arrays. */
export const ARRAY_KEYWORDS: Readonly<Record<string, Keyword>> = {
  prefixItems: {
    ...SCHEMAS,
    apply({ run, field, faults }, rule, value) {
      if (isList(value)) {
        (rule as unknown[])
          .slice(0, value.length)
          .forEach((schema, index) => run.apply(schema, value[index], `${field}[${index}]`, faults));
      }
    },
  },
  items: {
    ...SCHEMA,
    apply({ run, schema, field, faults }, rule, value) {
      if (isList(value)) {
        for (let index = firstItem(schema); index < value.length && !run.isFull(faults); index += 1) {
          run.apply(rule, value[index], `${field}[${index}]`, faults);
        }
      }
    },
    *steps({ run, schema, field, faults }, rule, value) {
      if (isList(value)) {
        for (let index = firstItem(schema); index < value.length && !run.isFull(faults); index += 1) {
          if (index % ITEMS_WITHOUT_BREAK === 0) {
            yield;
          }
          const item = value[index];
          if (isList(item) && item.length > ITEMS_WITHOUT_BREAK) {
            yield* run.steps(rule, item, `${field}[${index}]`, faults);
          } else {
            run.apply(rule, item, `${field}[${index}]`, faults);
          }
        }
      }
    },
  },
  contains: { ...SCHEMA, apply: applyContains },
  // They say nothing without `contains`.
  minContains: { ...COUNT, apply: () => undefined },
  maxContains: { ...COUNT, apply: () => undefined },
  minItems: simple<number, unknown[]>(
    COUNT,
    isList,
    (rule, value) => value.length >= rule,
    (rule) => `must have at least ${rule} elements`,
  ),
  maxItems: simple<number, unknown[]>(
    COUNT,
    isList,
    (rule, value) => value.length <= rule,
    (rule) => `must have at most ${rule} elements`,
  ),
  uniqueItems: simple<boolean, unknown[]>(
    FLAG,
    isList,
    (rule, value, { run }) =>
      !rule ||
      value.every((item, index) => value.slice(index + 1).every((other) => !isEqual(item, other, run))),
    () => 'must not have equal elements',
  ),
};

/** Those before it have schemas of their own. */
function firstItem(schema: JsonObject): number {
  return isList(schema['prefixItems']) ? schema['prefixItems'].length : 0;
}

function applyContains({ run, schema, field, faults }: Application, rule: unknown, value: unknown): void {
  if (!isList(value)) {
    return;
  }
  const count = value.filter((item) => run.holds(rule, item)).length;
  const least = Number(schema['minContains'] ?? 1);
  const most = Number(schema['maxContains'] ?? Infinity);
  if (count < least || count > most) {
    run.add(faults, field, () => 'must have elements as prescribed');
  }
}
