import { InvalidRequestError } from '../errors/domain.error.js';
import type { Steps } from '../support/turns.js';

/** The schema is not one that can be used; the message says where and why. For whoever publishes it. */
export class SchemaSyntaxError extends Error {
  override readonly name = 'SchemaSyntaxError';
}

/** A check was given up because of the work that value and schema together ask for. */
export class SchemaTooCostlyError extends InvalidRequestError {
  readonly code = 'SCHEMA_TOO_COSTLY';
  constructor() {
    super('Holding the body against its JSON schema asks for too much work; send a smaller one.');
  }
}

/** One broken rule of a schema. */
export interface SchemaFault {
  /** Path of the value in dots, such as `client.addresses[0].city`; empty for the whole. */
  field: string;
  rule: string;
}

/** What checks have cost, in the steps of `SCHEMA_LIMITS`. */
export interface CheckCost {
  steps: number;
}

/** A JSON Schema (draft 2020-12), checked once. It keeps nothing between checks. */
export interface CompiledSchema {
  /**
   * The rules that a value breaks, in the order of the schema; none when it is valid.
   * @param cost of checks that share the limit of one
   * @throws SchemaTooCostlyError when schema and value together ask for too much work
   */
  check(value: unknown, cost?: CheckCost): SchemaFault[];
  /**
   * As `check`, with breaks between the parts of a large value.
   * @throws SchemaTooCostlyError in one of its steps
   */
  steps(value: unknown): Steps<SchemaFault[]>;
}

export const REQUIRED_RULE = 'is required';
export const NOT_ALLOWED_RULE = 'is not allowed';

/** Limits for the author of a schema and the sender of values together. */
export const SCHEMA_LIMITS = {
  depth: 64,
  /** UTF-8 bytes of a schema as JSON. */
  bytes: 262_144,
  /**
   * Work of one check, in steps of an eighth of a microsecond: schemas and keywords applied, names looked for, values compared,
   * characters read, and what patterns do.
   */
  steps: 500_000,
  /** Work of compiling all patterns of a schema, in steps of half a microsecond. */
  patternSteps: 50_000,
  /** Faults that one check tells of. */
  faults: 100,
} as const;
