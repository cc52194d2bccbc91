import { createHash } from 'node:crypto';

import { canonicalJson } from './canonical-json.js';

const HASH_VERSION = 'svc-tool-1';

/** Fields of a tool that its fingerprint covers, besides the name. */
export const DEFINITION_FIELDS = [
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
] as const;

/** A tool as its server defines it: everything that a model sees of it. */
export type HashableDefinition = { name: string } & Record<(typeof DEFINITION_FIELDS)[number], unknown>;

/**
 * Returns the fingerprint of everything that a model sees of a tool. Two definitions with one hash are the same to an
 * agent.
 * @returns 64 hexadecimal digits
 */
export function definitionHash(definition: HashableDefinition): string {
  const content = [HASH_VERSION, definition.name, ...DEFINITION_FIELDS.map((field) => definition[field])];
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}
