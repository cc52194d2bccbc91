import { type JsonObject, isJsonObject } from '../json/json.js';
import type { YieldingWork } from '../support/yield-event-loop.js';

/** The check of one value, as keywords see it. */
export interface RunningCheck {
  apply(schema: unknown, value: unknown, field: string): void;
  steps(schema: unknown, value: unknown, field: string): YieldingWork<void>;
  holds(schema: unknown, value: unknown): boolean;
  /** Whether enough faults have been found. */
  readonly isFull: boolean;
  add(field: string, rule: () => string): void;
  matches(pattern: string, text: string): boolean;
  namesOf(value: JsonObject): readonly string[];
  /** Returns the names that occur in both a rule and an object, in the order of the rule. */
  namesInBoth(rule: JsonObject, value: JsonObject): readonly string[];
  referenced(schema: JsonObject): unknown;
  /** @throws SchemaTooCostlyError when the check as a whole has cost too much */
  charge(steps: number): void;
}

/** Context in which a keyword is applied. */
export interface Application {
  run: RunningCheck;
  schema: JsonObject;
  field: string;
}

/** Values that a keyword accepts. */
export interface Kind<Rule = unknown> {
  kind: string;
  accepts(rule: unknown): rule is Rule;
  /** Returns the schemas inside a rule, each with its JSON Pointer step; undefined for the rule itself. */
  children?(rule: unknown): (readonly [step: string | undefined, schema: unknown])[];
}

/** Implementation of a JSON Schema keyword. */
export interface Keyword extends Kind {
  /** Adds the rules that the value breaks. Values of types that the keyword does not apply to break none. */
  apply(application: Application, rule: unknown, value: unknown): void;
  steps?(application: Application, rule: unknown, value: unknown): YieldingWork<void>;
}

const isTextList = (rule: unknown): rule is string[] => isList(rule) && rule.every(isText);

/** A schema. Schemas nested in a rule are verified separately, even where a keyword ignores them. */
export const SCHEMA: Kind = {
  kind: 'a schema',
  accepts: (rule): rule is unknown => typeof rule === 'boolean' || isJsonObject(rule),
  children: (rule) => [[undefined, rule]],
};
export const SCHEMAS: Kind<unknown[]> = {
  kind: 'a list of schemas, not empty',
  accepts: (rule): rule is unknown[] => isList(rule) && rule.length > 0,
  children: (rule) => (rule as unknown[]).map((schema, index) => [String(index), schema]),
};
export const SCHEMA_MAP: Kind<JsonObject> = {
  kind: 'an object of schemas',
  accepts: isJsonObject,
  children: (rule) => (isJsonObject(rule) ? Object.entries(rule) : []),
};
export const COUNT: Kind<number> = {
  kind: 'a whole number, 0 or more',
  accepts: (rule): rule is number => Number.isSafeInteger(rule) && Number(rule) >= 0,
};
export const NUMBER: Kind<number> = { kind: 'a number', accepts: isNumber };
export const TEXT: Kind<string> = { kind: 'a string', accepts: isText };
export const TEXTS: Kind<string[]> = { kind: 'a list of strings', accepts: isTextList };
export const FLAG: Kind<boolean> = { kind: 'true or false', accepts: (rule) => typeof rule === 'boolean' };
export const LIST: Kind<unknown[]> = { kind: 'a list', accepts: isList };
export const ANYTHING: Kind = { kind: 'a value', accepts: isAnything };
export const TEXT_LIST_MAP: Kind<Record<string, string[]>> = {
  kind: 'an object of lists of strings',
  accepts: (rule): rule is Record<string, string[]> =>
    isJsonObject(rule) && Object.values(rule).every(isTextList),
};

export function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}

export function isAnything(_value: unknown): _value is unknown {
  return true;
}

/** Creates a keyword with a yes-or-no check. @param sentence describes a violation; `%` is replaced by the rule */
export function valueKeyword<Rule, Value>(
  kind: Kind<Rule>,
  appliesTo: (value: unknown) => value is Value,
  isValid: (rule: Rule, value: Value, application: Application) => boolean,
  sentence: string,
): Keyword {
  return {
    ...kind,
    apply(application, rule, value) {
      if (appliesTo(value) && !isValid(rule as Rule, value, application)) {
        application.run.add(application.field, () => sentence.replace('%', () => [rule].flat().join(' or ')));
      }
    },
  };
}

/** Creates a keyword that reports members of an object. @param wrong returns the names of invalid members */
export function memberKeyword<Rule>(
  kind: Kind<Rule>,
  wrong: (rule: Rule, value: JsonObject, run: RunningCheck) => readonly string[],
  sentence: string,
): Keyword {
  return {
    ...kind,
    apply({ run, field }, rule, value) {
      if (isJsonObject(value)) {
        wrong(rule as Rule, value, run).forEach((name) => run.add(memberOf(field, name), () => sentence));
      }
    },
  };
}

/** A schema that a value, or a part of it, must satisfy. */
type Part = readonly [schema: unknown, value: unknown, field: string];

/** Creates a keyword that applies schemas to a value or its parts. */
export function applicatorKeyword<Rule, Value>(
  kind: Kind<Rule>,
  appliesTo: (value: unknown) => value is Value,
  parts: (rule: Rule, value: Value, application: Application) => readonly Part[],
): Keyword {
  return {
    ...kind,
    apply(application, rule, value) {
      if (appliesTo(value)) {
        parts(rule as Rule, value, application).forEach((part) => application.run.apply(...part));
      }
    },
    *steps(application, rule, value) {
      for (const part of appliesTo(value) ? parts(rule as Rule, value, application) : []) {
        yield* application.run.steps(...part);
      }
    },
  };
}

export function memberOf(field: string, name: string): string {
  return field === '' ? name : `${field}.${name}`;
}
