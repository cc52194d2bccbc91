import type { JsonObject } from '../json/json.js';
import type { YieldingWork } from '../support/yield-event-loop.js';
import {
  SchemaTooCostlyError,
  NOT_ALLOWED_RULE,
  SCHEMA_LIMITS,
  type CheckCost,
  type SchemaFault,
} from './json-schema.types.js';
import { cached } from '../support/cached.js';
import { MeteredPatterns } from '../expressions/metered-pattern.js';
import { type Draft, draftOf, isAsserted, type SchemaOrigin } from './dialect.js';
import type { Keyword, RunningCheck } from './keyword.types.js';
import { KEYWORDS } from './keywords.js';
import { SchemaReferences } from './schema-references.js';

const STEPS_A_KEYWORD = 0.5;
const STEPS_A_NAME = 0.5;
/** Steps of a check per step of an expression, the unit in which patterns are charged. */
const STEPS_OF_PATTERNS = 4;
/** Stops schemas that refer to themselves endlessly. */
const MAX_DEPTH = 512;

/** Placeholder for faults that are only counted, since writing their messages would cost more than the check. */
const ANY_FAULT: SchemaFault = { field: '', rule: '' };

interface PlannedKeyword {
  readonly keyword: Keyword;
  readonly rule: unknown;
}

/** A schema with caches that its checks share. */
export class SchemaDocument {
  readonly patterns = new MeteredPatterns();
  readonly references: SchemaReferences;
  private readonly draft: Draft;
  private readonly plans = new WeakMap<JsonObject, readonly PlannedKeyword[]>();

  constructor(
    readonly root: JsonObject,
    private readonly origin: SchemaOrigin,
  ) {
    this.draft = draftOf(root, origin);
    this.references = new SchemaReferences(root, this.draft);
  }

  planOf(schema: JsonObject): readonly PlannedKeyword[] {
    return cached(this.plans, schema, () =>
      Object.entries(schema).flatMap(([name, rule]) => {
        const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
        const applies = keyword !== undefined && isAsserted(name, schema, this.draft, this.origin);
        return applies ? [{ keyword, rule }] : [];
      }),
    );
  }
}

/** One check of one value: its cost and faults so far. */
export class SchemaRun implements RunningCheck {
  private depth = 0;
  private faults: SchemaFault[] = [];
  private nestedChecks = 0;

  /** Cached names of the last object, since several keywords in a row read the same one. */
  private named: { readonly value: JsonObject; readonly names: readonly string[] } | undefined;

  constructor(
    private readonly document: SchemaDocument,
    private readonly cost: CheckCost = { steps: 0 },
  ) {}

  get spent(): number {
    return this.cost.steps;
  }

  /** @throws SchemaTooCostlyError */
  *faultSteps(value: unknown): YieldingWork<SchemaFault[]> {
    yield* this.steps(this.document.root, value, '');
    return this.faults;
  }

  apply(schema: unknown, value: unknown, field: string): void {
    for (const { keyword, rule } of this.enter(schema, field)) {
      if (this.isFull) {
        break;
      }
      this.charge(STEPS_A_KEYWORD);
      keyword.apply({ run: this, schema: schema as JsonObject, field }, rule, value);
    }
    this.depth -= 1;
  }

  *steps(schema: unknown, value: unknown, field: string): YieldingWork<void> {
    for (const { keyword, rule } of this.enter(schema, field)) {
      if (this.isFull) {
        break;
      }
      this.charge(STEPS_A_KEYWORD);
      const application = { run: this, schema: schema as JsonObject, field };
      if (keyword.steps === undefined) {
        keyword.apply(application, rule, value);
      } else {
        yield* keyword.steps(application, rule, value);
      }
    }
    this.depth -= 1;
  }

  private enter(schema: unknown, field: string): readonly PlannedKeyword[] {
    this.charge(1);
    if (this.depth >= MAX_DEPTH) {
      throw new SchemaTooCostlyError();
    }
    this.depth += 1;
    if (schema === false) {
      this.add(field, () => NOT_ALLOWED_RULE);
    }
    return typeof schema === 'object' && schema !== null ? this.document.planOf(schema as JsonObject) : [];
  }

  holds(schema: unknown, value: unknown): boolean {
    const { faults } = this;
    this.faults = [];
    this.nestedChecks += 1;
    this.apply(schema, value, '');
    this.nestedChecks -= 1;
    const holds = this.faults.length === 0;
    this.faults = faults;
    return holds;
  }

  add(field: string, rule: () => string): void {
    if (!this.isFull) {
      this.faults.push(this.nestedChecks > 0 ? ANY_FAULT : { field, rule: rule() });
    }
  }

  /** In a nested yes-or-no check, the first fault is enough. */
  get isFull(): boolean {
    return this.faults.length >= (this.nestedChecks > 0 ? 1 : SCHEMA_LIMITS.faults);
  }

  matches(pattern: string, text: string): boolean {
    return this.document.patterns.test(pattern, text, (steps) => this.charge(steps * STEPS_OF_PATTERNS));
  }

  referenced(schema: JsonObject): unknown {
    return this.document.references.target(schema);
  }

  namesOf(value: JsonObject): readonly string[] {
    if (this.named?.value !== value) {
      this.named = { value, names: Object.keys(value) };
      this.charge((1 + this.named.names.length) * STEPS_A_NAME);
    }
    return this.named.names;
  }

  namesInBoth(rule: JsonObject, value: JsonObject): readonly string[] {
    const names = Object.keys(rule);
    this.charge(names.length * STEPS_A_NAME);
    return names.filter((name) => Object.hasOwn(value, name));
  }

  charge(steps: number): void {
    this.cost.steps += steps;
    if (this.cost.steps > SCHEMA_LIMITS.steps) {
      throw new SchemaTooCostlyError();
    }
  }
}
