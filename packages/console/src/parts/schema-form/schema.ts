/** Part of JSON Schema that forms support. Everything else is edited as JSON. */
export interface Schema {
  type?: string | readonly string[];
  title?: string;
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  examples?: readonly unknown[];
  format?: string;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  oneOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  allOf?: readonly Schema[];
  $ref?: string;
  [keyword: string]: unknown;
}

/** Kind of form part. */
export type Kind = 'object' | 'array' | 'choice' | 'text' | 'number' | 'boolean' | 'variants' | 'json';

/** Maximum length of a chain of references. Longer ones are circular. */
const MAX_REFERENCES = 20;
/** Maximum nesting, because schemas can be recursive. Deeper parts are edited as JSON. */
export const MAX_LEVELS = 5;
/** Maximum number of fields, because schemas are untrusted. Larger forms are edited as JSON. */
const MAX_FIELDS = 300;

/** Resolves `$ref` within the document and a single `allOf`. */
export function resolved(schema: Schema, root: Schema): Schema {
  let found = schema;
  for (let steps = 0; steps < MAX_REFERENCES; steps += 1) {
    const { $ref, allOf, ...rest } = found;
    if ($ref !== undefined) {
      found = { ...dereferenced($ref, root), ...rest };
    } else if (allOf?.length === 1) {
      found = { ...allOf[0], ...rest };
    } else {
      return found;
    }
  }
  return {};
}

/** Returns the kind of form part for a resolved schema. */
export function kindOf(schema: Schema): Kind {
  if (Array.isArray(schema.enum) || schema.const !== undefined) {
    return 'choice';
  }
  if (Array.isArray(schema.oneOf ?? schema.anyOf)) {
    return schema.properties === undefined ? 'variants' : 'json';
  }
  const types = typesOf(schema);
  return types.length === 1 ? kindOfType(types[0], schema) : 'json';
}

/** Like {@link kindOf}, but containers at the maximum level are edited as JSON. */
export function kindAt(schema: Schema, level: number): Kind {
  const kind = kindOf(schema);
  return level >= MAX_LEVELS && ['object', 'array', 'variants'].includes(kind) ? 'json' : kind;
}

/** Returns the types of a schema without null, which a form represents by an empty field. */
export function typesOf({ type, properties }: Schema): readonly string[] {
  const all = typeof type === 'string' ? [type] : (type ?? (properties === undefined ? [] : ['object']));
  return all.filter((name) => name !== 'null');
}

/** Returns the initial value of a form: defaults, constants and required objects, or undefined. */
export function initialValue(schema: Schema, root: Schema = schema): unknown {
  return initialOf(schema, root, 0, { left: MAX_FIELDS });
}

/** Whether a schema is small enough for a form with fields. */
export function isForm(schema: Schema): boolean {
  const budget = { left: MAX_FIELDS };
  spendFields(schema, schema, 0, budget);
  return budget.left > 0;
}

function spendFields(schema: Schema, root: Schema, level: number, budget: { left: number }): void {
  budget.left -= 1;
  if (budget.left <= 0 || level >= MAX_LEVELS) {
    return;
  }
  for (const part of partsOf(resolved(schema, root))) {
    spendFields(part, root, level + 1, budget);
    if (budget.left <= 0) {
      return;
    }
  }
}

/** Returns the schemas nested in the form of this one. */
function partsOf(schema: Schema): readonly Schema[] {
  switch (kindOf(schema)) {
    case 'object':
      return Object.values(schema.properties ?? {});
    case 'variants':
      return schema.oneOf ?? schema.anyOf ?? [];
    default:
      return [];
  }
}

function initialOf(schema: Schema, root: Schema, depth: number, budget: { left: number }): unknown {
  budget.left -= 1;
  const known = resolved(schema, root);
  const given = known.default ?? known.const;
  if (given !== undefined) {
    return structuredClone(given);
  }
  if (kindOf(known) !== 'object' || depth > MAX_LEVELS || budget.left < 0) {
    return undefined;
  }
  const members = Object.entries(known.properties ?? {}).flatMap(([name, part]) => {
    const isNeeded = known.required?.includes(name) === true;
    const value = initialOf(part, root, isNeeded ? depth + 1 : MAX_LEVELS + 1, budget);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(members);
}

function kindOfType(type: string | undefined, schema: Schema): Kind {
  switch (type) {
    case 'object':
      return hasKnownMembers(schema) ? 'object' : 'json';
    case 'array':
      return schema.items === undefined ? 'json' : 'array';
    case 'string':
      return 'text';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      return 'json';
  }
}

/** Whether fields can be shown for an object: it declares properties, or allows none at all. */
function hasKnownMembers({ properties = {}, additionalProperties, patternProperties }: Schema): boolean {
  const isClosed = additionalProperties === false && patternProperties === undefined;
  return isClosed || Object.keys(properties).length > 0;
}

/** Resolves a JSON pointer within the document (RFC 6901). Other references accept any value. */
function dereferenced(reference: string, root: Schema): Schema {
  if (!reference.startsWith('#')) {
    return {};
  }
  const names = reference
    .slice(1)
    .split('/')
    .filter((name) => name !== '');
  let found: unknown = root;
  for (const name of names) {
    const key = decoded(name).replaceAll('~1', '/').replaceAll('~0', '~');
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, key)
        ? (found as Record<string, unknown>)[key]
        : undefined;
  }
  return typeof found === 'object' && found !== null ? (found as Schema) : {};
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
