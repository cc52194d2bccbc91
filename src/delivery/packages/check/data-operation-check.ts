import type { z } from 'zod';
import { isJsonObject, type JsonValue } from '#engine/json';
import { compileJsonTemplate } from '#engine/expressions';
import type { Place, PackageProblems } from '../model/package-problems.js';
import type { dataSourcePayloadSchema } from '../schema/node-payload.schema.js';
import { requireCompiles } from './conditions-check.js';

type Payload = z.output<typeof dataSourcePayloadSchema>;

/** Operators that run scripts in the database. */
const SCRIPT_OPERATORS: ReadonlySet<string> = new Set(['$where', '$function', '$accumulator']);

/** The part that an operation needs in addition to a filter. */
const NEEDS: Readonly<Partial<Record<Payload['operation'], 'document' | 'documents' | 'update'>>> = {
  insertOne: 'document',
  insertMany: 'documents',
  updateOne: 'update',
  updateMany: 'update',
};

/**
 * Checks an operation on a collection: it has all required parts, a change has a filter (docs/process-semantics.md, section 13), and
 * nothing runs scripts.
 */
export function checkDataOperation(payload: Payload, place: Place, problems: PackageProblems): void {
  const { operation } = payload;
  const needed = NEEDS[operation];
  if (needed !== undefined && payload[needed] === null) {
    problems.error('PAYLOAD_INVALID', place, `/payload/${needed}: is required for ${operation}.`);
  }
  if (/^(update|delete)/.test(operation) && Object.keys(payload.filter).length === 0) {
    const message = `${operation} needs a filter: an empty one would change the whole collection.`;
    problems.error('FILTER_MISSING', place, message);
  }
  for (const name of ['filter', 'document', 'documents', 'update'] as const) {
    const value = payload[name];
    if (value !== null) {
      const template = () => compileJsonTemplate(value as JsonValue);
      requireCompiles(template, `/payload/${name}`, place, problems);
      rejectScripts(value, place, problems);
    }
  }
}

function rejectScripts(root: unknown, place: Place, problems: PackageProblems): void {
  const open: unknown[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (isJsonObject(value)) {
      for (const name of Object.keys(value).filter((key) => SCRIPT_OPERATORS.has(key))) {
        problems.error('OPERATOR_FORBIDDEN', place, `${name} runs a script and cannot be used.`);
      }
      open.push(...Object.values(value));
    } else if (Array.isArray(value)) {
      open.push(...(value as unknown[]));
    }
  }
}
