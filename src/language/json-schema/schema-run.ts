import type { RE2JS } from '@bufbuild/re2';
import type { JsonObject } from '../../common/json.js';
import { regexStates } from '../expressions/regex-price.js';
import { SchemaTooCostlyError } from './json-schema.errors.js';
import { resolvePointer } from './json-pointer.js';
import { SCHEMA_LIMITS, type SchemaFault } from './json-schema.types.js';
import { KEYWORDS } from './keywords.js';
import type { RunningCheck } from './keyword.types.js';

const CHARACTERS_PER_STEP = 64;
/** RE2 may be in every state of a pattern at each character: `[ab]*a[ab]{900}c$` has many. Measured. */
const STATES_PER_STEP = 8;
/** A schema that refers to itself would call itself for ever. */
const MAX_DEPTH = 512;

/** One check of one value: what it has cost and found so far. */
export class SchemaRun implements RunningCheck {
  private steps = 0;
  private depth = 0;

  constructor(
    private readonly root: JsonObject,
    private readonly patterns: ReadonlyMap<string, RE2JS>,
  ) {}

  /** @throws SchemaTooCostlyError */
  faultsOf(value: unknown): SchemaFault[] {
    const faults: SchemaFault[] = [];
    this.apply(this.root, value, '', faults);
    return faults;
  }

  apply(schema: unknown, value: unknown, field: string, faults: SchemaFault[]): void {
    this.charge(1);
    if (this.depth >= MAX_DEPTH) {
      throw new SchemaTooCostlyError();
    }
    if (schema === false) {
      this.add(faults, field, 'is not allowed');
    }
    this.depth += 1;
    this.applyKeywords(schema, value, field, faults);
    this.depth -= 1;
  }

  private applyKeywords(schema: unknown, value: unknown, field: string, faults: SchemaFault[]): void {
    if (typeof schema !== 'object' || schema === null) {
      return;
    }
    for (const [name, rule] of Object.entries(schema)) {
      if (faults.length < SCHEMA_LIMITS.faults && Object.hasOwn(KEYWORDS, name)) {
        KEYWORDS[name]?.apply({ run: this, schema: schema as JsonObject, field, faults }, rule, value);
      }
    }
  }

  holds(schema: unknown, value: unknown): boolean {
    const faults: SchemaFault[] = [];
    this.apply(schema, value, '', faults);
    return faults.length === 0;
  }

  add(faults: SchemaFault[], field: string, rule: string): void {
    if (faults.length < SCHEMA_LIMITS.faults) {
      faults.push({ field, rule });
    }
  }

  matches(pattern: string, text: string): boolean {
    this.charge(1 + text.length / CHARACTERS_PER_STEP);
    this.charge((text.length * regexStates(pattern)) / STATES_PER_STEP);
    return this.patterns.get(pattern)?.test(text) ?? false;
  }

  referenced(reference: string): unknown {
    return resolvePointer(this.root, reference);
  }

  charge(steps: number): void {
    this.steps += steps;
    if (this.steps > SCHEMA_LIMITS.steps) {
      throw new SchemaTooCostlyError();
    }
  }
}
