import { isJsonObject, type JsonObject } from '../json/json.js';
import { resolvePointer } from './schema-references.js';
import { cached } from '../support/cached.js';

/** Bounds the work of a check for one process, in steps of its own choice: keys, members and names that it looks at. */
export class CheckWork {
  private left: number;

  constructor(steps: number) {
    this.left = steps;
  }

  get isSpent(): boolean {
    return this.left <= 0;
  }

  spend(steps: number): boolean {
    this.left -= steps;
    return this.left >= 0;
  }
}

/** Schemas that are looked at for one place; authors write a handful. */
const MAX_SCHEMAS = 1_000;

/** Where a path leads; `at` is the step that names nothing. */
export type Found =
  { found: 'named' | 'open' } | { found: 'missing'; siblings: ReadonlySet<string>; at: number };

/** Known members at one place of data: from schemas that name the place, and from values that stand there. */
export class KnownMembers {
  /** Names of known members. Where a list can stand, also names of members of its elements. */
  readonly names: ReadonlySet<string>;
  private readonly isOpen: boolean;
  private readonly schemas: readonly JsonObject[];
  private readonly members = new Map<string, KnownMembers>();

  private constructor(
    schemas: readonly unknown[],
    private readonly root: JsonObject,
    private readonly work: CheckWork,
  ) {
    this.schemas = applying(schemas, root, work);
    const described = this.schemas.flatMap(({ properties }) =>
      isJsonObject(properties) ? Object.keys(properties) : [],
    );
    const required = this.schemas.flatMap(({ required: names }) =>
      Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [],
    );
    this.names = new Set([...described, ...required]);
    work.spend(1 + this.schemas.length + described.length + required.length);
    this.isOpen =
      described.length === 0 ||
      this.schemas.some(
        ({ patternProperties, additionalProperties }) =>
          isJsonObject(patternProperties) ||
          isJsonObject(additionalProperties) ||
          additionalProperties === true,
      );
  }

  /** What a JSON Schema (2020-12) says; nothing for null. */
  static ofSchema(schema: JsonObject | null, work: CheckWork): KnownMembers {
    return new KnownMembers(schema === null ? [] : [schema], schema ?? {}, work);
  }

  /** What a JSON Schema says of the value at a path of names. */
  static ofSchemaAt(path: readonly string[], schema: JsonObject, work: CheckWork): KnownMembers {
    const around = path.reduceRight((inner: JsonObject, name) => ({ properties: { [name]: inner } }), schema);
    return new KnownMembers([around], schema, work);
  }

  /** What values show, one or the other. */
  static ofValues(values: readonly JsonObject[], work: CheckWork): KnownMembers {
    return KnownMembers.ofSchema({ anyOf: values.map(schemaOf) }, work);
  }

  member(name: string): KnownMembers {
    return cached(this.members, name, () => {
      const below = this.schemas.flatMap(({ properties }) =>
        isJsonObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [],
      );
      return new KnownMembers(below, this.root, this.work);
    });
  }

  /**
   * Follows a path of names; when the work is used up, it may lead anywhere.
   * @param at how many names have been followed
   * @returns whether it leads to something that is named, may be there, or is missing beside `siblings`
   */
  look(path: readonly string[], at = 0): Found {
    const name = path[at];
    if (name === undefined) {
      return { found: 'named' };
    }
    if (!this.work.spend(1)) {
      return { found: 'open' };
    }
    if (this.names.has(name)) {
      return this.member(name).look(path, at + 1);
    }
    return this.isOpen ? { found: 'open' } : { found: 'missing', siblings: this.names, at };
  }
}

/** Keywords whose schemas hold at the place of theirs, or for the elements of a list there. */
const PARTS = ['allOf', 'anyOf', 'oneOf', 'then', 'else', 'items', 'prefixItems'] as const;

/** A schema with all that hold at its place: references, parts of combinations, and the elements of a list. */
function applying(schemas: readonly unknown[], root: JsonObject, work: CheckWork): JsonObject[] {
  const found = new Set<JsonObject>();
  const open = [...schemas];
  while (open.length > 0 && found.size < MAX_SCHEMAS) {
    const schema = open.pop();
    if (isJsonObject(schema) && !found.has(schema)) {
      found.add(schema);
      const parts = PARTS.flatMap((keyword) => schema[keyword]);
      const { dependentSchemas, $ref } = schema;
      const dependent = isJsonObject(dependentSchemas) ? Object.values(dependentSchemas) : [];
      work.spend(parts.length + dependent.length);
      // One by one: a list of a default body can have more elements than a call has arguments.
      for (const part of [
        ...parts,
        ...dependent,
        typeof $ref === 'string' ? resolvePointer(root, $ref) : undefined,
      ]) {
        open.push(part);
      }
    }
  }
  return [...found];
}

function schemaOf(value: unknown): JsonObject {
  if (Array.isArray(value)) {
    return { prefixItems: value.map(schemaOf) };
  }
  if (!isJsonObject(value)) {
    return {};
  }
  return {
    properties: Object.fromEntries(Object.entries(value).map(([name, member]) => [name, schemaOf(member)])),
  };
}
