import { isJsonObject } from '../../../common/json.js';
import type { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import type { ToolImage } from '../model/tool-call.types.js';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** How images begin, as base64. */
const SIGNATURES: ReadonlyMap<unknown, RegExp> = new Map([
  ['image/png', /^iVBORw0KGgo/],
  ['image/jpeg', /^\/9j\//],
  ['image/gif', /^R0lGOD[dl]h/],
  ['image/webp', /^UklGR.{7}RUJQ/],
]);

/**
 * The images of the content of a tool's result that have a type which models take, and are what they say they are. The first ones, up to
 * `maxBytes` of base64 in all.
 * @param removal an image that holds what the server was sent is left out
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
