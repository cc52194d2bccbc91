const HEADER_KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
const DATA_KEYWORDS = new Set(['const', 'enum', 'default', 'examples']);

type Place = 'root' | 'property' | 'elsewhere';

/**
 * Whether every `x-mcp-header` of an input schema follows the rules of MCP 2026-07-28, "Custom Headers from Tool Parameters".
 * It stands on a string, integer or boolean property that is reached through `properties` alone. It is an RFC 9110 token,
 * unique without regard to case. A client must leave out a tool that breaks them. Bound the schema's depth before.
 */
export function hasValidHeaderDeclarations(inputSchema: Record<string, unknown>): boolean {
  return isValid(inputSchema, 'root', new Set());
}

function isValid(node: unknown, place: Place, names: Set<string>): boolean {
  if (typeof node !== 'object' || node === null) {
    return true;
  }
  if (
    Object.hasOwn(node, HEADER_KEY) &&
    (place !== 'property' || !declares(node as Record<string, unknown>, names))
  ) {
    return false;
  }
  return Object.entries(node).every(([key, value]: [string, unknown]) => {
    if (key === 'properties' && typeof value === 'object' && value !== null) {
      const below = place === 'elsewhere' ? 'elsewhere' : 'property';
      return Object.values(value).every((property) => isValid(property, below, names));
    }
    return DATA_KEYWORDS.has(key) || isValid(value, 'elsewhere', names);
  });
}

function declares(property: Record<string, unknown>, names: Set<string>): boolean {
  const name = property[HEADER_KEY];
  if (typeof name !== 'string' || !TOKEN.test(name) || !HEADER_TYPES.has(property['type'])) {
    return false;
  }
  const folded = name.toLowerCase();
  const isNew = !names.has(folded);
  names.add(folded);
  return isNew;
}
