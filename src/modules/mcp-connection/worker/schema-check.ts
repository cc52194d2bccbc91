import type { RejectedToolReason } from '../model/connection-test.types.js';
import type { SchemaLimits } from '../model/tool-list-limits.js';
import { hidesText, visibleText } from './plain-text.js';

/** Where in a schema a value stands: only in `schema` positions do keywords mean anything; a `text` is for people. */
type Position = 'schema' | 'map' | 'data' | 'text';

interface Visit {
  value: unknown;
  depth: number;
  position: Position;
}

const MAP_KEYWORDS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const DATA_KEYWORDS = new Set(['const', 'enum', 'default', 'examples', 'example']);
const TEXT_KEYWORDS = new Set(['title', 'description', '$comment']);
const LONE_SURROGATE = /\p{Cs}/u;

/**
 * Checks a foreign JSON Schema without ever running it: no validator, no pattern is compiled, nothing is fetched. Only texts
 * for people may hide characters, because {@link withVisibleTexts} takes them out. In a name or a value, this would change the
 * meaning of the schema.
 * @returns the reason to refuse it, or undefined
 */
export function schemaProblem(
  schema: Record<string, unknown>,
  limits: SchemaLimits,
): RejectedToolReason | undefined {
  const check = new SchemaCheck(schema, limits);
  return check.structure('schema') ?? sizeProblem(schema, limits) ?? check.references();
}

/** These bounds also hold for tool annotations, which are no schema but have a `title` like one. */
export function annotationsProblem(
  annotations: Record<string, unknown>,
  limits: SchemaLimits,
): RejectedToolReason | undefined {
  return new SchemaCheck(annotations, limits).structure('schema') ?? sizeProblem(annotations, limits);
}

/** A copy of a checked document in which a person sees all that its titles, descriptions and comments say. */
export function withVisibleTexts(document: Record<string, unknown>): Record<string, unknown> {
  return visible(document, 'schema') as Record<string, unknown>;
}

function visible(value: unknown, position: Position): unknown {
  if (typeof value === 'string' && position === 'text') {
    return visibleText(value);
  }
  if (typeof value !== 'object' || value === null || position === 'data') {
    return value;
  }
  return Array.isArray(value)
    ? value.map((item) => visible(item, position))
    : Object.fromEntries(
        Object.entries(value).map(([key, member]) => [key, visible(member, below(position, key, member))]),
      );
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

  /**
   * JSON Schema 2020-12, section 8.2.3: the target of a reference out of this document would have to be fetched, and that never
   * happens.
   */
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
      return textProblem(value, position);
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
      const problem = textProblem(key, 'data');
      if (problem !== undefined) {
        return problem;
      }
      const place = Array.isArray(node) ? position : below(position, key, value);
      open.push({ value, depth: depth + 1, position: place });
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

function textProblem(text: string, position: Position): RejectedToolReason | undefined {
  if (LONE_SURROGATE.test(text)) {
    return 'invalid_text';
  }
  return position !== 'text' && hidesText(text) ? 'hidden_characters' : undefined;
}

function below(position: Position, key: string, value: unknown): Position {
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
