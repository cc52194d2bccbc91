import { isJsonObject, jsonDepth, type JsonValue } from '../../../common/data-paths.js';
import { plainText, visibleText } from './plain-text.js';
import { ToolCallError } from './tool-call.error.js';

/** What a tool answered, as data. */
export interface RenderedResult {
  isError: boolean;
  text: string;
  structured: JsonValue | null;
}

const MAX_LABEL = 500;
const MAX_STRUCTURED_DEPTH = 64;

/**
 * Reads the result of `tools/call` (MCP, "Tool Result"). Texts are kept, without characters that a person cannot see;
 * images, audio and binary resources become a line with type and size; what a resource holds as text is kept.
 * @throws ToolCallError `invalid_result` when it is none, or when its structured content is nested too deep
 */
export function renderToolResult(result: Record<string, unknown>): RenderedResult {
  const { content, structuredContent, isError, resultType } = result;
  const isComplete = resultType === undefined || resultType === 'complete';
  const blocks = content ?? (structuredContent === undefined ? undefined : []);
  if (!isComplete || !Array.isArray(blocks) || jsonDepth(structuredContent) > MAX_STRUCTURED_DEPTH) {
    throw new ToolCallError('invalid_result');
  }
  const structured = (structuredContent ?? null) as JsonValue;
  const text = blocks.map(renderBlock).join('\n');
  return {
    isError: isError === true,
    text: text === '' && structured !== null ? visibleText(JSON.stringify(structured)) : text,
    structured,
  };
}

function renderBlock(block: unknown): string {
  if (!isJsonObject(block)) {
    return '[content of no known kind]';
  }
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string' ? visibleText(block['text']) : '';
    case 'image':
    case 'audio':
      return `[${block['type']}${labels(block['mimeType'])}, ${base64Bytes(block['data'])} bytes]`;
    case 'resource':
      return renderResource(block['resource']);
    case 'resource_link':
      return `[link to a resource${labels(block['uri'], block['title'] ?? block['name'], block['mimeType'])}]`;
    default:
      return `[content of kind${labels(block['type']) || ' unknown'}]`;
  }
}

function renderResource(resource: unknown): string {
  const { uri, mimeType, text, blob } = isJsonObject(resource) ? resource : {};
  return typeof text === 'string'
    ? `[resource${labels(uri, mimeType)}]\n${visibleText(text)}`
    : `[resource${labels(uri, mimeType)}, ${base64Bytes(blob)} bytes]`;
}

function labels(...values: unknown[]): string {
  return values
    .map((value) => plainText(value, MAX_LABEL).replaceAll('\n', ' '))
    .filter((label) => label !== '')
    .map((label) => ` ${label}`)
    .join('');
}

function base64Bytes(data: unknown): number {
  return typeof data === 'string' ? Buffer.byteLength(data, 'base64') : 0;
}
