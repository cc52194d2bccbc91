import { createHash } from 'node:crypto';

import { canonicalJson } from './canonical-json.js';

const HASH_VERSION = 'svc-tool-1';

/** What a fingerprint of a tool covers, besides its name. */
export const DEFINITION_FIELDS = [
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
] as const;

/** A tool as the server defines it, all that a model is told about it. */
export type HashableDefinition = { name: string } & Record<(typeof DEFINITION_FIELDS)[number], unknown>;

/**
 * Fingerprint of everything a model is told about a tool. Two definitions with one hash are the same to an agent.
 * @returns 64 hexadecimal digits
 */
export function definitionHash(definition: HashableDefinition): string {
  const content = [HASH_VERSION, definition.name, ...DEFINITION_FIELDS.map((field) => definition[field])];
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}
