import { isJsonObject, type JsonObject } from '../../common/json.js';

/** The schema that a local JSON Pointer (RFC 6901) leads to; undefined when there is none. */
export function resolvePointer(root: JsonObject, reference: string): unknown {
  if (reference === '#') {
    return root;
  }
  if (!reference.startsWith('#/')) {
    return undefined;
  }
  let place: unknown = root;
  for (const step of reference.slice(2).split('/')) {
    const name = decoded(step);
    if (typeof place !== 'object' || place === null || name === undefined || !Object.hasOwn(place, name)) {
      return undefined;
    }
    place = (place as JsonObject)[name];
  }
  return isJsonObject(place) || typeof place === 'boolean' ? place : undefined;
}

function decoded(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}
