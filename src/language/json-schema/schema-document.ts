import { ARRAY_KEYWORDS } from './array-keywords.js';
import { GENERAL_KEYWORDS } from './general-keywords.js';
import type { Keyword } from './keyword.types.js';
import { OBJECT_KEYWORDS } from './object-keywords.js';
import { SCALAR_KEYWORDS } from './scalar-keywords.js';
import type { JsonObject } from '../../common/json.js';
import { type Draft, draftOf, isAsserted, type SchemaOrigin } from './dialect.js';
import { MeteredPatterns } from '../expressions/metered-pattern.js';
import { SchemaReferences } from './schema-references.js';
import { cached } from '../../common/cached.js';

/** The keywords that say something about values (JSON Schema Core and Validation, draft 2020-12). */
export const KEYWORDS: Readonly<Record<string, Keyword>> = {
  ...GENERAL_KEYWORDS,
  ...SCALAR_KEYWORDS,
  ...OBJECT_KEYWORDS,
  ...ARRAY_KEYWORDS,
};

interface PlannedKeyword {
  readonly keyword: Keyword;
  readonly rule: unknown;
}

/** A schema with what its checks share: nothing is looked up in the schema more than once. */
export class SchemaDocument {
  readonly patterns = new MeteredPatterns();
  readonly references: SchemaReferences;
  private readonly draft: Draft;
  private readonly plans = new WeakMap<JsonObject, readonly PlannedKeyword[]>();
  private readonly places = new WeakMap<JsonObject, ReadonlyMap<string, number>>();

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
        const isSaid = keyword !== undefined && isAsserted(name, schema, this.draft, this.origin);
        return isSaid ? [{ keyword, rule }] : [];
      }),
    );
  }

  /** The names of a rule, each with its place in the order of the schema. */
  placesOf(rule: JsonObject): ReadonlyMap<string, number> {
    return cached(this.places, rule, () => new Map(Object.keys(rule).map((name, place) => [name, place])));
  }
}
