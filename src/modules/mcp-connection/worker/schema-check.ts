import type { JsonObject } from '../../../common/json.js';
import type { RejectedToolReason } from '../model/connection-test.types.js';
import type { SchemaLimits } from '../model/tool-list-limits.js';
import { draftOf } from '../../../language/json-schema/dialect.js';
import {
  positionBelow,
  type SchemaPosition,
  SchemaReferences,
} from '../../../language/json-schema/schema-references.js';
import { hidesText, visibleText } from './plain-text.js';

interface Visit {
  value: unknown;
  depth: number;
  position: SchemaPosition;
}

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
  return boundsProblem(schema, limits) ?? referencesProblem(schema);
}

/** The target of a reference out of this document would have to be fetched, and that never happens. */
function referencesProblem(schema: Record<string, unknown>): RejectedToolReason | undefined {
  const document = schema as JsonObject;
  const { problem } = new SchemaReferences(document, draftOf(document, 'foreign'));
  return problem && `${problem}_reference`;
}

/** Checks size, depth and characters, also of tool annotations, which are no schema but have a `title` like one. */
export function boundsProblem(
  document: Record<string, unknown>,
  limits: SchemaLimits,
): RejectedToolReason | undefined {
  return new SchemaCheck(document, limits).structure('schema') ?? sizeProblem(document, limits);
}

/** A copy of a checked document in which a person sees all that its titles, descriptions and comments say. */
export function withVisibleTexts(document: Record<string, unknown>): Record<string, unknown> {
  return visible(document, 'schema') as Record<string, unknown>;
}

function visible(value: unknown, position: SchemaPosition): unknown {
  if (typeof value === 'string' && position === 'text') {
    return visibleText(value);
  }
  if (typeof value !== 'object' || value === null || position === 'data') {
    return value;
  }
  return Array.isArray(value)
    ? value.map((item) => visible(item, position))
    : Object.fromEntries(
        Object.entries(value).map(([key, member]) => [
          key,
          visible(member, positionBelow(position, key, member)),
        ]),
      );
}

function sizeProblem(document: unknown, { maxBytes }: SchemaLimits): RejectedToolReason | undefined {
  return Buffer.byteLength(JSON.stringify(document)) > maxBytes ? 'schema_too_large' : undefined;
}

class SchemaCheck {
  private nodes = 0;
  private values = 0;

  constructor(
    private readonly root: Record<string, unknown>,
    private readonly limits: SchemaLimits,
  ) {}

  /** Walks iteratively: a document that nests too deep must not exhaust our stack before it is refused. */
  structure(position: SchemaPosition): RejectedToolReason | undefined {
    const open: Visit[] = [{ value: this.root, depth: 1, position }];
    for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
      const problem = this.visit(visit, open);
      if (problem !== undefined) {
        return problem;
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
    { depth, position }: { depth: number; position: SchemaPosition },
    open: Visit[],
  ): RejectedToolReason | undefined {
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
      const place = Array.isArray(node) ? position : positionBelow(position, key, value);
      open.push({ value, depth: depth + 1, position: place });
    }
    return undefined;
  }
}

function textProblem(text: string, position: SchemaPosition): RejectedToolReason | undefined {
  if (LONE_SURROGATE.test(text)) {
    return 'invalid_text';
  }
  return position !== 'text' && hidesText(text) ? 'hidden_characters' : undefined;
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
