import type { JsonObject } from '../paths/data-paths.js';
import type { SchemaFault } from './json-schema.types.js';
import type { SchemaRun } from './schema-run.js';

/** Where a keyword is applied. */
export interface Application {
  run: SchemaRun;
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
  /** Adds what the value breaks; values of kinds that the keyword does not speak of break nothing. */
  apply(application: Application, rule: unknown, value: unknown): void;
}
