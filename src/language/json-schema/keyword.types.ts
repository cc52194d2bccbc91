import type { JsonObject } from '../../common/json.js';
import type { Steps } from '../../common/turns.js';
import type { SchemaFault } from './json-schema.types.js';

/** The check of one value that a keyword takes part in. */
export interface RunningCheck {
  /** Adds the rules of a schema that a value breaks. */
  apply(schema: unknown, value: unknown, field: string, faults: SchemaFault[]): void;
  /** As `apply`, with breaks between the parts of a large value. */
  steps(schema: unknown, value: unknown, field: string, faults: SchemaFault[]): Steps<void>;
  /** Whether a value breaks no rule of a schema. */
  holds(schema: unknown, value: unknown): boolean;
  /** Whether no more faults are asked for. */
  isFull(faults: readonly SchemaFault[]): boolean;
  add(faults: SchemaFault[], field: string, rule: () => string): void;
  matches(pattern: string, text: string): boolean;
  /** The names of an object. */
  namesOf(value: JsonObject): readonly string[];
  /** The names that a rule and an object have both, in the order of the rule. */
  namesInBoth(rule: JsonObject, value: JsonObject): readonly string[];
  /** The schema that the `$ref` of a schema leads to. */
  referenced(schema: JsonObject): unknown;
  /** @throws SchemaTooCostlyError when the check as a whole has cost too much */
  charge(steps: number): void;
}

/** Where a keyword is applied. */
export interface Application {
  run: RunningCheck;
  /** The schema that the keyword stands in. */
  schema: JsonObject;
  /** Path of the value. */
  field: string;
  faults: SchemaFault[];
}

/** What a keyword of JSON Schema means. */
export interface Keyword {
  /** What its value must be, for a person. */
  kind: string;
  accepts(rule: unknown): boolean;
  /** Adds the rules that the value breaks. Values of kinds that the keyword does not speak of break none. */
  apply(application: Application, rule: unknown, value: unknown): void;
  /** As `apply`, with breaks, of a keyword that leads to the parts of a value. */
  steps?(application: Application, rule: unknown, value: unknown): Steps<void>;
}
