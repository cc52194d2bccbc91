import type { JsonObject } from '#engine/json';
import { checkedText, type CheckedText } from '#engine/json-schema';
import type { TextCheck } from './worker.messages.js';

/** Validates a text of a model against a schema and returns the value as JSON text. */
export function checkedJson({ of, text, schema }: TextCheck): { problem: string } | { valueJson: string } {
  const read = of === 'answer' ? checkedText(text, schema, 'own') : readArguments(text, schema);
  return 'problem' in read ? read : { valueJson: JSON.stringify(read.value) };
}

/**
 * Reads the arguments of a tool call: a JSON object that matches the tool's schema, as far as the schema can be checked.
 */
export function readArguments(text: string, schema: JsonObject): CheckedText {
  const read = checkedText(text.trim() === '' ? '{}' : text, schema, 'foreign');
  const isObject =
    'value' in read && typeof read.value === 'object' && read.value !== null && !Array.isArray(read.value);
  return 'problem' in read || isObject ? read : { problem: 'Arguments must be a JSON object.' };
}
