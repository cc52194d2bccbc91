import { isJsonObject, jsonDepth, type JsonValue } from '#engine/json';
import { SecretRemoval } from '../../../platform/secrets/secret-removal.js';
import type { ToolImage } from '../model/tool-call.types.js';
import { plainText, visibleText } from './plain-text.js';
import { ToolCallError } from './connection.error.js';

/** Rendered answer of a tool. */
interface RenderedResult {
  isError: boolean;
  text: string;
  structured: JsonValue | null;
  images?: readonly ToolImage[];
}

const MAX_LABEL = 500;
const MAX_STRUCTURED_DEPTH = 64;
/** Members of other kinds of results. A result with one of them and without content is not an answer of a tool. */
const OTHER_RESULTS = ['task', 'inputRequests', 'requestState'];
const ROUNDED = '[integer beyond 2^53 - 1]';

/**
 * Renders the result of `tools/call` (MCP, "Tool Result"). Removes hidden characters from texts, describes images, audio and binary
 * resources by type and size, and replaces rounded integers of structured content with a text.
 * @param removal removes sent credentials before anything is truncated
 * @throws ToolCallError `invalid_result`
 */
export function renderToolResult(
  result: Record<string, unknown>,
  removal = SecretRemoval.none,
  maxImageBytes?: number,
): RenderedResult {
  const { structuredContent, isError, resultType } = result;
  const isComplete = (resultType ?? 'complete') === 'complete';
  const blocks = blocksOf(result);
  if (!isComplete || !Array.isArray(blocks) || jsonDepth(structuredContent) > MAX_STRUCTURED_DEPTH) {
    throw new ToolCallError('invalid_result');
  }
  const structured = withoutRounded(removal.json((structuredContent ?? null) as JsonValue));
  const text = blocks.map((block) => renderBlock(block, removal)).join('\n');
  return {
    isError: isError === true,
    text: text === '' && structured !== null ? visibleText(JSON.stringify(structured)) : text,
    structured,
    ...imagesOf(blocks, removal, maxImageBytes),
  };
}

function blocksOf(result: Record<string, unknown>): unknown {
  const isThere = (member: string): boolean => (result[member] ?? null) !== null;
  const isOther = !isThere('structuredContent') && OTHER_RESULTS.some(isThere);
  return result['content'] ?? (isOther ? undefined : []);
}

/** Replaces integers beyond 2^53 - 1, which the client library has already rounded, with a text. */
function withoutRounded(structured: JsonValue): JsonValue {
  const json = JSON.stringify(structured);
  return /\d{16}|e\+/.test(json) ? (JSON.parse(json, replaced) as JsonValue) : structured;
}

function replaced(_name: string, value: unknown): unknown {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? ROUNDED : value;
}

function renderBlock(block: unknown, removal: SecretRemoval): string {
  if (!isJsonObject(block)) {
    return '[content of no known kind]';
  }
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string' ? visibleText(removal.text(block['text'])) : '';
    case 'image':
    case 'audio':
      return `[${block['type']}${labels(removal, block['mimeType'])}, ${base64Bytes(block['data'])} bytes]`;
    case 'resource':
      return renderResource(block['resource'], removal);
    case 'resource_link':
      return `[link to a resource${labels(removal, block['uri'], block['title'] ?? block['name'], block['mimeType'])}]`;
    default:
      return `[content of kind${labels(removal, block['type']) || ' unknown'}]`;
  }
}

function renderResource(resource: unknown, removal: SecretRemoval): string {
  const { uri, mimeType, text, blob } = isJsonObject(resource) ? resource : {};
  return typeof text === 'string'
    ? `[resource${labels(removal, uri, mimeType)}]\n${visibleText(removal.text(text))}`
    : `[resource${labels(removal, uri, mimeType)}, ${base64Bytes(blob)} bytes]`;
}

function labels(removal: SecretRemoval, ...values: unknown[]): string {
  return values
    .map((value) =>
      plainText(typeof value === 'string' ? removal.text(value) : value, MAX_LABEL).replaceAll('\n', ' '),
    )
    .filter((label) => label !== '')
    .map((label) => ` ${label}`)
    .join('');
}

function base64Bytes(data: unknown): number {
  return typeof data === 'string' ? Buffer.byteLength(data, 'base64') : 0;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** First bytes of images, as base64. */
const SIGNATURES: ReadonlyMap<unknown, RegExp> = new Map([
  ['image/png', /^iVBORw0KGgo/],
  ['image/jpeg', /^\/9j\//],
  ['image/gif', /^R0lGOD[dl]h/],
  ['image/webp', /^UklGR.{7}RUJQ/],
]);

/**
 * Returns the first images, up to `maxBytes`, whose type matches their data and is supported by models, and that contain no sent
 * credentials.
 */
export function imagesOf(
  blocks: readonly unknown[],
  removal: SecretRemoval,
  maxBytes = 0,
): { images?: ToolImage[] } {
  const images: ToolImage[] = [];
  let left = maxBytes;
  for (const block of blocks) {
    const image = isJsonObject(block) && block['type'] === 'image' ? imageOf(block) : undefined;
    if (image !== undefined && image.data.length <= left && removal.text(image.data) === image.data) {
      left -= image.data.length;
      images.push(image);
    }
  }
  return images.length === 0 ? {} : { images };
}

function imageOf({ mimeType, data }: Record<string, unknown>): ToolImage | undefined {
  const isImage = typeof data === 'string' && SIGNATURES.get(mimeType)?.test(data) === true;
  return isImage && BASE64.test(data) ? { mimeType: String(mimeType), data } : undefined;
}
