import { createHash } from 'node:crypto';

/** What the model may see as the name of a function. */
const MAX_LENGTH = 64;
const FORBIDDEN = /[^a-zA-Z0-9_-]/g;
const SEPARATOR = '__';
const HASH_DIGITS = 10;
/** What ends like a fingerprint could be the name of another tool. */
const FINGERPRINTED = /_[0-9a-f]{10}$/;

/** What names a tool for good, in every version of its application. */
export interface NamedTool {
  readonly appId: string;
  readonly resourceDefinitionId: string;
  readonly resourceName: string;
  readonly toolName: string;
}

/**
 * Names for the model, in the order of the tools: `<system>__<tool>`. One that had to be changed, that several
 * tools would have or that looks fingerprinted ends with a fingerprint (docs/agents.md): none depends on the order.
 */
export function toolNames(tools: readonly NamedTool[]): string[] {
  const plain = tools.map(({ resourceName, toolName }) => `${resourceName}${SEPARATOR}${toolName}`);
  return tools.map((tool, index) => {
    const name = plain[index] ?? '';
    const isUsable = usableName(name) === name && !FINGERPRINTED.test(name);
    return isUsable && plain.indexOf(name) === plain.lastIndexOf(name) ? name : fingerprinted(name, tool);
  });
}

/** The name of a function that every model takes, of at most `maxLength` characters, from any text. */
export function usableName(text: string, maxLength = MAX_LENGTH): string {
  return text.slice(0, maxLength).replaceAll(FORBIDDEN, '_') || '_';
}

function fingerprinted(name: string, { appId, resourceDefinitionId, toolName }: NamedTool): string {
  const identity = JSON.stringify([appId, resourceDefinitionId, toolName]);
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, HASH_DIGITS);
  return `${usableName(name, MAX_LENGTH - HASH_DIGITS - 1)}_${hash}`;
}
