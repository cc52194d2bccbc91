const PREFIX = 'Mcp-Param-';
const HEADER_KEY = 'x-mcp-header';
const VISIBLE_ASCII = /^[\t\x20-\x7e]+$/;
const ENCODED = /^=\?base64\?.*\?=$/;

/**
 * The headers that mirror arguments where the input schema declares `x-mcp-header` (MCP 2026-07-28, "Custom Headers from
 * Tool Parameters"). Absent and null arguments, and those that are no string, boolean or safe number, have none.
 * @param inputSchema checked before, see hasValidHeaderDeclarations
 */
export function paramHeaders(
  inputSchema: Record<string, unknown>,
  args: Record<string, unknown>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  collect(inputSchema, args, headers);
  return headers;
}

function collect(schema: unknown, value: unknown, headers: Record<string, string>): void {
  if (!isObject(schema)) {
    return;
  }
  const name = schema[HEADER_KEY];
  const text = typeof name === 'string' ? headerText(value) : undefined;
  if (text !== undefined) {
    headers[`${PREFIX}${String(name)}`] = text;
  }
  if (isObject(schema['properties']) && isObject(value)) {
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
