import type { JsonObject } from '../../common/json.js';
import { type Draft, draftOf, isAsserted, type SchemaOrigin } from './dialect.js';
import { MeteredPatterns } from '../expressions/metered-pattern.js';
import { KEYWORDS } from './keywords.js';
import type { Keyword } from './keyword.types.js';
import { SchemaReferences } from './schema-references.js';

/** A keyword of a schema, with the rule that stands under it. */
export interface PlannedKeyword {
  readonly keyword: Keyword;
  readonly rule: unknown;
}

/** A schema with what its checks share: nothing is looked up in the schema more than once. */
export class SchemaDocument {
  readonly patterns = new MeteredPatterns();
  /** Schemas that references lead to. */
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

  /** The keywords of a schema that say something about values, in its order. */
  planOf(schema: JsonObject): readonly PlannedKeyword[] {
    const known = this.plans.get(schema);
    if (known !== undefined) {
      return known;
    }
    const plan = Object.entries(schema).flatMap(([name, rule]) => {
      const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
      const isSaid = keyword !== undefined && isAsserted(name, schema, this.draft, this.origin);
      return isSaid ? [{ keyword, rule }] : [];
    });
    this.plans.set(schema, plan);
    return plan;
  }

  /** The names of a rule, each with its place in the order of the schema. */
  placesOf(rule: JsonObject): ReadonlyMap<string, number> {
    const known = this.places.get(rule);
    if (known !== undefined) {
      return known;
    }
    const places = new Map(Object.keys(rule).map((name, place) => [name, place]));
    this.places.set(rule, places);
    return places;
  }
}
