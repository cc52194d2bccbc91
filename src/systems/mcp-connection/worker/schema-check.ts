import type { JsonObject } from '#engine/json';
import { draftOf, positionBelow, type SchemaPosition, SchemaReferences } from '#engine/json-schema';
import type { mcpLimits } from '../mcp.limits.js';
import type { RejectedToolReason } from '../model/connection-test.types.js';
import { hidesText, visibleText } from './plain-text.js';

type Limits = Pick<typeof mcpLimits, 'maxSchemaBytes' | 'maxSchemaDepth' | 'maxSchemaNodes'>;
type Problem = RejectedToolReason | undefined;

const LONE_SURROGATE = /\p{Cs}/u;

/**
 * Checks an untrusted JSON Schema without running it: compiles no patterns and fetches nothing. Only titles, descriptions and comments
 * may contain hidden characters, which {@link withVisibleTexts} removes.
 * @returns the reason to reject it
 */
export function schemaProblem(schema: JsonObject, limits: Limits): Problem {
  const problem = boundsProblem(schema, limits);
  if (problem !== undefined) {
    return problem;
  }
  // External references are rejected, because the service never fetches their target.
  const references = new SchemaReferences(schema, draftOf(schema, 'foreign'));
  return references.problem && `${references.problem}_reference`;
}

/** Checks size, depth and characters of a schema, or of tool annotations, whose `title` is treated like that of a schema. */
export function boundsProblem(document: JsonObject, limits: Limits): Problem {
  const isLarge = (): boolean => Buffer.byteLength(JSON.stringify(document)) > limits.maxSchemaBytes;
  return structureProblem(document, limits) ?? (isLarge() ? 'schema_too_large' : undefined);
}

/** Copies a checked document without hidden characters in titles, descriptions and comments. */
export function withVisibleTexts(document: JsonObject): JsonObject {
  return visible(document, 'schema') as JsonObject;
}

function visible(value: unknown, position: SchemaPosition): unknown {
  if (typeof value === 'string' && position === 'text') {
    return visibleText(value);
  }
  if (typeof value !== 'object' || value === null || position === 'data') {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((item) => visible(item, position));
  }
  const members = Object.entries(value).map(([key, member]) => [
    key,
    visible(member, positionBelow(position, key, member)),
  ]);
  return Object.fromEntries(members);
}

/** Checks depth, size and texts. Iterative, so that a deeply nested document cannot exhaust the stack. */
function structureProblem(document: JsonObject, limits: Limits): Problem {
  const open = [{ value: document as unknown, depth: 1, position: 'schema' as SchemaPosition }];
  let nodes = 0;
  let values = 0;
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    const { value, depth, position } = visit;
    if (typeof value !== 'object' || value === null) {
      const problem = scalarProblem(value, position);
      if (problem !== undefined) {
        return problem;
      }
      continue;
    }
    nodes += 1;
    values += Array.isArray(value) ? value.length : 0;
    const problem = sizeProblem({ depth, nodes, values }, limits) ?? namesProblem(value);
    if (problem !== undefined) {
      return problem;
    }
    for (const [key, member] of Object.entries(value) as [string, unknown][]) {
      const place = Array.isArray(value) ? position : positionBelow(position, key, member);
      open.push({ value: member, depth: depth + 1, position: place });
    }
  }
  return undefined;
}

function sizeProblem(
  { depth, nodes, values }: { depth: number; nodes: number; values: number },
  { maxSchemaBytes, maxSchemaDepth, maxSchemaNodes }: Limits,
): Problem {
  if (depth > maxSchemaDepth) {
    return 'schema_too_deep';
  }
  if (nodes > maxSchemaNodes) {
    return 'schema_too_complex';
  }
  // Each value has at least one byte, so more values than bytes mean that the document is too large. Checked here to save memory.
  return values > maxSchemaBytes ? 'schema_too_large' : undefined;
}

function namesProblem(node: object): Problem {
  for (const [key, value] of Object.entries(node) as [string, unknown][]) {
    const problem = pollutes(key, value) ? 'forbidden_key' : textProblem(key, 'data');
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}

function scalarProblem(value: unknown, position: SchemaPosition): Problem {
  if (typeof value === 'string') {
    return textProblem(value, position);
  }
  return typeof value === 'number' && !Number.isFinite(value) ? 'invalid_text' : undefined;
}

function textProblem(text: string, position: SchemaPosition): Problem {
  if (LONE_SURROGATE.test(text)) {
    return 'invalid_text';
  }
  return position !== 'text' && hidesText(text) ? 'hidden_characters' : undefined;
}

/** Returns whether a key could pollute prototypes. `constructor` is allowed as a parameter name; only with `prototype` can a merge reach Object.prototype. */
function pollutes(key: string, value: unknown): boolean {
  const isObject = typeof value === 'object' && value !== null;
  return key === '__proto__' || (key === 'constructor' && isObject && Object.hasOwn(value, 'prototype'));
}
