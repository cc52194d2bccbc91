import { isJsonObject, type JsonObject } from '../json/json.js';
import { resolvePointer } from './schema-references.js';
import { cached } from '../support/cached.js';

/** Work budget of one check of a process. A step is a key, member or name that the check visits. */
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

/** Maximum number of schemas visited for one place; authors write a handful. */
const MAX_SCHEMAS = 1_000;

/** Result of a lookup; `at` is the index of the first unknown name. */
export type Found =
  { found: 'named' | 'open' } | { found: 'missing'; siblings: ReadonlySet<string>; at: number };

/** Known members at one place of data, from schemas and values of that place. */
export class KnownMembers {
  /** Names of known members. If the place can be a list, includes members of its elements. */
  readonly names: ReadonlySet<string>;
  private readonly isOpen: boolean;
  private readonly schemas: readonly JsonObject[];
  private readonly members = new Map<string, KnownMembers>();

  private constructor(
    schemas: readonly unknown[],
    private readonly root: JsonObject,
    private readonly work: CheckWork,
  ) {
    this.schemas = applicableSchemas(schemas, root, work);
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

  /** Reads known members from a JSON Schema (2020-12); none for null. */
  static ofSchema(schema: JsonObject | null, work: CheckWork): KnownMembers {
    return new KnownMembers(schema === null ? [] : [schema], schema ?? {}, work);
  }

  /** Reads known members from a JSON Schema for the value at a path. */
  static ofSchemaAt(path: readonly string[], schema: JsonObject, work: CheckWork): KnownMembers {
    const around = path.reduceRight((inner: JsonObject, name) => ({ properties: { [name]: inner } }), schema);
    return new KnownMembers([around], schema, work);
  }

  /** Reads known members from alternative sample values. */
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
   * Looks up a path of names. Once the work budget is spent, every path counts as open.
   * @param at number of names already followed
   * @returns whether the path is named, may exist (`open`), or is missing among `siblings`
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

/** Keywords whose schemas apply to the same value, or to its elements if it is a list. */
const PARTS = ['allOf', 'anyOf', 'oneOf', 'then', 'else', 'items', 'prefixItems'] as const;

/** Returns all schemas that apply at the place of the given ones: targets of `$ref`, parts of combinations and schemas of elements. */
function applicableSchemas(schemas: readonly unknown[], root: JsonObject, work: CheckWork): JsonObject[] {
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
      // Pushed one by one, because a list can have more elements than a call may have arguments.
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
