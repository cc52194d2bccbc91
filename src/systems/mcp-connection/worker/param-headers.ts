import { isJsonObject, type JsonObject } from '#engine/json';

const HEADER_KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
const DATA_KEYWORDS = new Set(['const', 'enum', 'default', 'examples']);

type Place = 'root' | 'property' | 'elsewhere';

/**
 * Returns whether each `x-mcp-header` of an input schema follows the rules of MCP 2026-07-28, "Custom Headers from Tool Parameters":
 * on a string, integer or boolean property that is reached only through `properties`, and an RFC 9110 token that is unique ignoring
 * case. Clients must reject tools that break these rules. Recursive, so check the depth of the schema first.
 */
export function hasValidHeaderDeclarations(inputSchema: JsonObject): boolean {
  return isValid(inputSchema, 'root', new Set());
}

function isValid(node: unknown, place: Place, names: Set<string>): boolean {
  if (typeof node !== 'object' || node === null) {
    return true;
  }
  if (Object.hasOwn(node, HEADER_KEY) && (place !== 'property' || !declares(node as JsonObject, names))) {
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

function declares(property: JsonObject, names: Set<string>): boolean {
  const name = property[HEADER_KEY];
  if (typeof name !== 'string' || !TOKEN.test(name) || !HEADER_TYPES.has(property['type'])) {
    return false;
  }
  const folded = name.toLowerCase();
  const isNew = !names.has(folded);
  names.add(folded);
  return isNew;
}

const PREFIX = 'Mcp-Param-';
const VISIBLE_ASCII = /^[\t\x20-\x7e]+$/;
const ENCODED = /^=\?base64\?.*\?=$/;

/**
 * Returns headers that mirror arguments for which the input schema declares `x-mcp-header` (MCP 2026-07-28). Omits arguments that are
 * absent, null, or not a string, boolean or safe number.
 */
export function paramHeaders(inputSchema: JsonObject, args: JsonObject): Record<string, string> {
  const headers: Record<string, string> = {};
  collect(inputSchema, args, headers);
  return headers;
}

function collect(schema: unknown, value: unknown, headers: Record<string, string>): void {
  if (!isJsonObject(schema)) {
    return;
  }
  const name = schema[HEADER_KEY];
  const text = typeof name === 'string' ? headerText(value) : undefined;
  if (text !== undefined) {
    headers[`${PREFIX}${String(name)}`] = text;
  }
  if (isJsonObject(schema['properties']) && isJsonObject(value)) {
    for (const [property, below] of Object.entries(schema['properties'])) {
      collect(below, Object.hasOwn(value, property) ? value[property] : undefined, headers);
    }
  }
}

function headerText(value: unknown): string | undefined {
  if (typeof value === 'string') {
    return isPlain(value) ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
  }
  const isNumber = typeof value === 'number' && (Number.isSafeInteger(value) || !Number.isInteger(value));
  return typeof value === 'boolean' || (isNumber && Number.isFinite(value)) ? String(value) : undefined;
}

function isPlain(text: string): boolean {
  return VISIBLE_ASCII.test(text) && text === text.trim() && !ENCODED.test(text);
}
