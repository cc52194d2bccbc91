import { createHash } from 'node:crypto';

/** Maximum length of a function name. */
const MAX_LENGTH = 64;
const FORBIDDEN = /[^a-zA-Z0-9_-]/g;
const SEPARATOR = '__';
const HASH_DIGITS = 10;
/** Names that look fingerprinted, which could collide with the name of another tool. */
const FINGERPRINTED = /_[0-9a-f]{10}$/;

/** Identity of a tool across all versions of its application. */
export interface NamedTool {
  readonly appId: string;
  readonly resourceDefinitionId: string;
  readonly resourceName: string;
  readonly toolName: string;
}

/**
 * Returns the names of tools for the model: `<system>__<tool>`. A name that had to be changed, is not unique or looks
 * fingerprinted gets a fingerprint (docs/agents.md), so names do not depend on the order of tools.
 */
export function toolNames(tools: readonly NamedTool[]): string[] {
  const plain = tools.map(({ resourceName, toolName }) => `${resourceName}${SEPARATOR}${toolName}`);
  return tools.map((tool, index) => {
    const name = plain[index] ?? '';
    const isUsable = usableName(name) === name && !FINGERPRINTED.test(name);
    return isUsable && plain.indexOf(name) === plain.lastIndexOf(name) ? name : fingerprinted(name, tool);
  });
}

/** Converts any text to a function name that every model accepts, of at most `maxLength` characters. */
export function usableName(text: string, maxLength = MAX_LENGTH): string {
  return text.slice(0, maxLength).replaceAll(FORBIDDEN, '_') || '_';
}

function fingerprinted(name: string, { appId, resourceDefinitionId, toolName }: NamedTool): string {
  const identity = JSON.stringify([appId, resourceDefinitionId, toolName]);
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, HASH_DIGITS);
  return `${usableName(name, MAX_LENGTH - HASH_DIGITS - 1)}_${hash}`;
}
