import { isJsonObject, type JsonObject } from '../json/json.js';
import { DRAFT_7, type Draft } from './dialect.js';

/** Resolves a local JSON Pointer (RFC 6901) to a schema. Returns undefined if there is none. */
export function resolvePointer(root: JsonObject, reference: string): unknown {
  if (reference === '#') {
    return root;
  }
  if (!reference.startsWith('#/')) {
    return undefined;
  }
  let place: unknown = root;
  for (const step of reference.slice(2).split('/')) {
    const name = decoded(step);
    if (typeof place !== 'object' || place === null || name === undefined || !Object.hasOwn(place, name)) {
      return undefined;
    }
    place = (place as JsonObject)[name];
  }
  return isJsonObject(place) || typeof place === 'boolean' ? place : undefined;
}

function decoded(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

/** Position of a value within a JSON Schema. Keywords are interpreted only in `schema` positions; a `text` is free-form. */
export type SchemaPosition = 'schema' | 'map' | 'data' | 'text';

const MAP_KEYWORDS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const DATA_KEYWORDS = new Set(['const', 'enum', 'default', 'examples', 'example']);
const TEXT_KEYWORDS = new Set(['title', 'description', '$comment']);
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];
const ANCHORS = ['$anchor', '$dynamicAnchor'];
/** Base URI of a schema without `$id`; no reference can name it. */
const NO_BASE = 'schema://unnamed.invalid/';

/** Returns the position of a member of an object at `position`. */
export function positionBelow(position: SchemaPosition, key: string, value: unknown): SchemaPosition {
  if (position === 'map') {
    return 'schema';
  }
  if (position === 'schema' && TEXT_KEYWORDS.has(key) && typeof value === 'string') {
    return 'text';
  }
  if (position === 'data' || DATA_KEYWORDS.has(key)) {
    return 'data';
  }
  return MAP_KEYWORDS.has(key) ? 'map' : 'schema';
}

interface Reference {
  readonly text: string;
  readonly base: string;
}

/**
 * Resolves references within the document of a schema: JSON Pointers, anchors and `$id`, to which references are relative (JSON
 * Schema 2020-12 Core, section 8.2). Nothing is fetched. The document must have bounded depth.
 */
export class SchemaReferences {
  private readonly found: Reference[] = [];
  private readonly resources = new Map<string, JsonObject>();
  private readonly anchors = new Map<string, JsonObject>();
  private readonly bases = new Map<JsonObject, string>();
  private readonly targets = new Map<JsonObject, unknown>();

  constructor(
    private readonly root: JsonObject,
    private readonly draft: Draft,
  ) {
    this.resources.set(NO_BASE, root);
    this.walk(root, 'schema', NO_BASE);
  }

  /** Problem of the first reference that does not resolve; `external` means that it names another document. */
  get problem(): 'external' | 'unresolved' | undefined {
    for (const { text, base } of this.found) {
      const { resource, target } = this.resolve(text, base);
      if (target === undefined) {
        return resource === undefined ? 'external' : 'unresolved';
      }
    }
    return undefined;
  }

  /** Returns the target of the `$ref` of a schema, or undefined if it does not resolve. */
  target(schema: JsonObject): unknown {
    if (!this.targets.has(schema)) {
      const base = this.bases.get(schema) ?? NO_BASE;
      this.targets.set(schema, this.resolve(String(schema['$ref']), base).target);
    }
    return this.targets.get(schema);
  }

  private walk(value: unknown, position: SchemaPosition, base: string): void {
    if (typeof value !== 'object' || value === null || position === 'data') {
      return;
    }
    if (Array.isArray(value)) {
      value.forEach((item) => this.walk(item, position, base));
      return;
    }
    const schema = value as JsonObject;
    const inner = position === 'schema' ? this.enter(schema, base) : base;
    for (const [key, member] of Object.entries(schema)) {
      this.walk(member, positionBelow(position, key, member), inner);
    }
  }

  private enter(schema: JsonObject, outer: string): string {
    const base = this.baseOf(schema, outer);
    this.bases.set(schema, base);
    for (const key of ANCHORS) {
      if (typeof schema[key] === 'string') {
        this.anchors.set(`${base}#${schema[key]}`, schema);
      }
    }
    for (const key of REFERENCES) {
      const text = schema[key];
      if (typeof text === 'string') {
        this.found.push({ text, base });
      }
    }
    return base;
  }

  private baseOf(schema: JsonObject, outer: string): string {
    const id = schema[this.draft < 6 ? 'id' : '$id'];
    // Up to draft-07, siblings of `$ref` are ignored.
    const isIgnored = this.draft <= DRAFT_7 && '$ref' in schema && schema !== this.root;
    const named = typeof id === 'string' && !isIgnored ? split(id, outer) : undefined;
    if (named === undefined) {
      return outer;
    }
    if (named.fragment !== '') {
      // Early drafts use `$id` with a fragment for what became `$anchor`.
      this.anchors.set(`${named.resource}#${named.fragment}`, schema);
      return outer;
    }
    this.resources.set(named.resource, schema);
    return named.resource;
  }

  private resolve(reference: string, base: string): { resource?: JsonObject | undefined; target?: unknown } {
    const parts = split(reference, base);
    const resource = parts && this.resources.get(parts.resource);
    if (parts === undefined || resource === undefined) {
      return {};
    }
    const { fragment } = parts;
    if (fragment !== '' && !fragment.startsWith('/')) {
      return { resource, target: this.anchors.get(`${parts.resource}#${fragment}`) };
    }
    // Some servers embed a schema with its `$id` but write pointers relative to the whole document.
    const target = resolvePointer(resource, `#${fragment}`) ?? resolvePointer(this.root, reference);
    return { resource, target };
  }
}

/** Splits a URI reference into resource and fragment (RFC 3986, section 5). Returns undefined if it is invalid. */
function split(reference: string, base: string): { resource: string; fragment: string } | undefined {
  const [path = '', ...rest] = reference.split('#');
  const fragment = rest.join('#');
  if (path === '') {
    return { resource: base, fragment };
  }
  return URL.canParse(path, base) ? { resource: new URL(path, base).href, fragment } : undefined;
}
