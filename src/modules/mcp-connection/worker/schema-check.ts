import type { RejectedToolReason } from '../connection-test.types.js';

/** Bounds of one foreign JSON document. */
export interface SchemaLimits {
  /** UTF-8 bytes as JSON. */
  maxBytes: number;
  /** Nesting of objects and arrays. */
  maxDepth: number;
  /** Objects and arrays in all. */
  maxNodes: number;
}

/** Where in a schema a value stands: only in `schema` positions do keywords mean anything. */
type Position = 'schema' | 'map' | 'data';

interface Visit {
  value: unknown;
  depth: number;
  position: Position;
}

const MAP_KEYWORDS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const DATA_KEYWORDS = new Set(['const', 'enum', 'default', 'examples', 'example']);
const LONE_SURROGATE = /\p{Cs}/u;

/**
 * Checks a foreign JSON Schema without ever running it: no validator, no pattern is compiled, nothing is fetched.
 * @returns the reason to refuse it, or undefined
 */
export function schemaProblem(
  schema: Record<string, unknown>,
  limits: SchemaLimits,
): RejectedToolReason | undefined {
  const check = new SchemaCheck(schema, limits);
  return check.structure('schema') ?? sizeProblem(schema, limits) ?? check.references();
}

/** The same bounds for a document that is no schema, such as tool annotations. */
export function documentProblem(
  document: Record<string, unknown>,
  limits: SchemaLimits,
): RejectedToolReason | undefined {
  return new SchemaCheck(document, limits).structure('data') ?? sizeProblem(document, limits);
}

function sizeProblem(document: unknown, { maxBytes }: SchemaLimits): RejectedToolReason | undefined {
  return Buffer.byteLength(JSON.stringify(document)) > maxBytes ? 'schema_too_large' : undefined;
}

class SchemaCheck {
  private readonly found: string[] = [];
  private readonly anchors = new Set<string>(['#']);
  private readonly ids = new Set<string>();
  private nodes = 0;
  private values = 0;

  constructor(
    private readonly root: Record<string, unknown>,
    private readonly limits: SchemaLimits,
  ) {}

  /** Walks iteratively: a document that nests too deep must not exhaust our stack before it is refused. */
  structure(position: Position): RejectedToolReason | undefined {
    const open: Visit[] = [{ value: this.root, depth: 1, position }];
    for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
      const problem = this.visit(visit, open);
      if (problem !== undefined) {
        return problem;
      }
    }
    return undefined;
  }

  /** JSON Schema 2020-12, section 8.2.3: what is not in this document would have to be fetched, and that never happens. */
  references(): RejectedToolReason | undefined {
    for (const reference of this.found) {
      if (!reference.startsWith('#') && !this.ids.has(reference)) {
        return 'external_reference';
      }
      if (reference.startsWith('#') && !this.anchors.has(reference) && !this.resolves(reference)) {
        return 'unresolved_reference';
      }
    }
    return undefined;
  }

  private visit({ value, depth, position }: Visit, open: Visit[]): RejectedToolReason | undefined {
    if (typeof value === 'string') {
      return LONE_SURROGATE.test(value) ? 'invalid_text' : undefined;
    }
    if (typeof value === 'number') {
      return Number.isFinite(value) ? undefined : 'invalid_text';
    }
    if (typeof value !== 'object' || value === null) {
      return undefined;
    }
    this.nodes += 1;
    if (depth > this.limits.maxDepth) {
      return 'schema_too_deep';
    }
    if (this.nodes > this.limits.maxNodes) {
      return 'schema_too_complex';
    }
    return this.enter(value, { depth, position }, open);
  }

  private enter(
    node: object,
    { depth, position }: { depth: number; position: Position },
    open: Visit[],
  ): RejectedToolReason | undefined {
    if (position === 'schema' && !Array.isArray(node)) {
      this.collect(node as Record<string, unknown>);
    }
    // A value is at least a byte: beyond that many the document is too large, and listing them would cost memory first.
    this.values += Array.isArray(node) ? node.length : 0;
    if (this.values > this.limits.maxBytes) {
      return 'schema_too_large';
    }
    for (const [key, value] of Object.entries(node) as [string, unknown][]) {
      if (pollutes(key, value)) {
        return 'forbidden_key';
      }
      if (LONE_SURROGATE.test(key)) {
        return 'invalid_text';
      }
      open.push({ value, depth: depth + 1, position: Array.isArray(node) ? position : below(position, key) });
    }
    return undefined;
  }

  private collect(schema: Record<string, unknown>): void {
    for (const key of ['$ref', '$dynamicRef', '$recursiveRef']) {
      const reference = schema[key];
      if (typeof reference === 'string') {
        this.found.push(reference);
      }
    }
    for (const key of ['$anchor', '$dynamicAnchor']) {
      if (typeof schema[key] === 'string') {
        this.anchors.add(`#${schema[key]}`);
      }
    }
    if (typeof schema['$id'] === 'string') {
      this.ids.add(schema['$id']);
    }
  }

  /** RFC 6901 in a URI fragment. */
  private resolves(reference: string): boolean {
    let node: unknown = this.root;
    for (const part of pointerOf(reference)) {
      if (typeof node !== 'object' || node === null || !Object.hasOwn(node, part)) {
        return false;
      }
      node = (node as Record<string, unknown>)[part];
    }
    return reference.startsWith('#/') && node !== undefined;
  }
}

function below(position: Position, key: string): Position {
  if (position === 'map') {
    return 'schema';
  }
  if (position === 'data' || DATA_KEYWORDS.has(key)) {
    return 'data';
  }
  return MAP_KEYWORDS.has(key) ? 'map' : 'schema';
}

/** `constructor` is a fair parameter name; only together with `prototype` does a merge reach Object.prototype. */
function pollutes(key: string, value: unknown): boolean {
  return (
    key === '__proto__' ||
    (key === 'constructor' &&
      typeof value === 'object' &&
      value !== null &&
      Object.hasOwn(value, 'prototype'))
  );
}

function pointerOf(reference: string): string[] {
  try {
    return decodeURIComponent(reference.slice(2))
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return ['\0unresolvable'];
  }
}
