import { type JsonObject, isJsonObject } from '../../common/json.js';
import type { Steps } from '../../common/turns.js';
import type { SchemaFault } from './json-schema.types.js';

/** The check of one value that a keyword takes part in. */
export interface RunningCheck {
  apply(schema: unknown, value: unknown, field: string, faults: SchemaFault[]): void;
  steps(schema: unknown, value: unknown, field: string, faults: SchemaFault[]): Steps<void>;
  holds(schema: unknown, value: unknown): boolean;
  isFull(faults: readonly SchemaFault[]): boolean;
  add(faults: SchemaFault[], field: string, rule: () => string): void;
  matches(pattern: string, text: string): boolean;
  namesOf(value: JsonObject): readonly string[];
  /** The names that a rule and an object have both, in the order of the rule. */
  namesInBoth(rule: JsonObject, value: JsonObject): readonly string[];
  referenced(schema: JsonObject): unknown;
  /** @throws SchemaTooCostlyError when the check as a whole has cost too much */
  charge(steps: number): void;
}

/** Where a keyword is applied. */
export interface Application {
  run: RunningCheck;
  schema: JsonObject;
  field: string;
  faults: SchemaFault[];
}

/** What a keyword of JSON Schema means. */
export interface Keyword {
  kind: string;
  accepts(rule: unknown): boolean;
  /** Adds the rules that the value breaks. Values of kinds that the keyword does not speak of break none. */
  apply(application: Application, rule: unknown, value: unknown): void;
  steps?(application: Application, rule: unknown, value: unknown): Steps<void>;
}

type Kind = Pick<Keyword, 'kind' | 'accepts'>;

const isSchema = (rule: unknown): boolean => typeof rule === 'boolean' || isJsonObject(rule);
const isCount = (rule: unknown): boolean => Number.isSafeInteger(rule) && (rule as number) >= 0;
const isTextList = (rule: unknown): boolean =>
  Array.isArray(rule) && rule.every((item) => typeof item === 'string');

/** What the values of keywords may be. Schemas inside of them are looked at by themselves. */
export const SCHEMA: Kind = { kind: 'a schema', accepts: isSchema };
export const SCHEMAS: Kind = {
  kind: 'a list of schemas, not empty',
  accepts: (rule) => Array.isArray(rule) && rule.length > 0,
};
export const SCHEMA_MAP: Kind = { kind: 'an object of schemas', accepts: isJsonObject };
export const COUNT: Kind = { kind: 'a whole number, 0 or more', accepts: isCount };
export const NUMBER: Kind = { kind: 'a number', accepts: (rule) => typeof rule === 'number' };
export const TEXT: Kind = { kind: 'a string', accepts: (rule) => typeof rule === 'string' };
export const TEXTS: Kind = { kind: 'a list of strings', accepts: isTextList };
export const FLAG: Kind = { kind: 'true or false', accepts: (rule) => typeof rule === 'boolean' };
export const LIST: Kind = { kind: 'a list', accepts: (rule) => Array.isArray(rule) };
export const ANYTHING: Kind = { kind: 'a value', accepts: () => true };
export const TEXT_LIST_MAP: Kind = {
  kind: 'an object of lists of strings',
  accepts: (rule) => isJsonObject(rule) && Object.values(rule).every(isTextList),
};

/** A keyword that a value either keeps or not, with one sentence for when it does not. */
export function simple<Rule, Value>(
  kind: Kind,
  speaksOf: (value: unknown) => value is Value,
  keeps: (rule: Rule, value: Value, application: Application) => boolean,
  sentence: (rule: Rule) => string,
): Keyword {
  return {
    ...kind,
    apply(application, rule, value) {
      if (speaksOf(value) && !keeps(rule as Rule, value, application)) {
        application.run.add(application.faults, application.field, () => sentence(rule as Rule));
      }
    },
  };
}

export const isNumber = (value: unknown): value is number => typeof value === 'number';
export const isText = (value: unknown): value is string => typeof value === 'string';
export const isList = (value: unknown): value is unknown[] => Array.isArray(value);
