import { isJsonObject, type JsonObject } from '#engine/json';

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
 * The headers that mirror arguments where the checked input schema declares `x-mcp-header` (MCP 2026-07-28).
 * Absent and null arguments, and those that are no string, boolean or safe number, have none.
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
