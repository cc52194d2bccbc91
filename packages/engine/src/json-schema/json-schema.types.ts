import { InvalidRequestError } from '../errors/domain.error.js';
import type { YieldingWork } from '../support/yield-event-loop.js';

/** Reports an unusable schema to its author; the message says where and why. */
export class SchemaSyntaxError extends Error {
  override readonly name = 'SchemaSyntaxError';
}

/** Reports a check that was stopped because value and schema together require too much work. */
export class SchemaTooCostlyError extends InvalidRequestError {
  readonly code = 'SCHEMA_TOO_COSTLY';
  constructor() {
    super('Validating the body against its JSON schema takes too much work; send a smaller one.');
  }
}

/** One broken rule of a schema. */
export interface SchemaFault {
  /** Dotted path of the value, such as `client.addresses[0].city`; empty for the whole value. */
  field: string;
  rule: string;
}

/** Cost of checks so far, in steps of `SCHEMA_LIMITS`. */
export interface CheckCost {
  steps: number;
}

/** A verified JSON Schema. It keeps no state between checks. */
export interface CompiledSchema {
  /**
   * Returns the rules that a value breaks, in the order of the schema; an empty list when it is valid.
   * @param cost shared by checks that together stay within the limit of one
   * @throws SchemaTooCostlyError when schema and value together require too much work
   */
  check(value: unknown, cost?: CheckCost): SchemaFault[];
  /**
   * Like `check`, but yields between the parts of a large value.
   * @throws SchemaTooCostlyError from one of its steps
   */
  steps(value: unknown): YieldingWork<SchemaFault[]>;
}

export const REQUIRED_RULE = 'is required';
export const NOT_ALLOWED_RULE = 'is not allowed';

/** Limits on schemas and on the work of checks. */
export const SCHEMA_LIMITS = {
  depth: 64,
  /** UTF-8 bytes of a schema as JSON. */
  bytes: 262_144,
  /**
   * Work of one check, in steps of an eighth of a microsecond: schemas and keywords applied, names looked up, values compared,
   * characters read and patterns matched.
   */
  steps: 500_000,
  /** Work of compiling all patterns of a schema, in steps of half a microsecond. */
  patternSteps: 50_000,
  /** Maximum number of faults that one check reports. */
  faults: 100,
} as const;
