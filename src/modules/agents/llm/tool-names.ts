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
  /** Name of its system. */
  readonly resourceName: string;
  readonly toolName: string;
}

/**
 * Names under which the model is shown tools: `<system>__<tool>`. Some names end with a fingerprint of the tool's identity
 * (docs/agents.md, "Which tools it has"). They had to be changed, several tools would have them, or they already end as if with
 * a fingerprint. So names never collide and do not depend on the order of tools.
 * @returns one name for each tool, in their order
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
