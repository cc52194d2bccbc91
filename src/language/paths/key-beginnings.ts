import { parseKey, writePath } from './data-keys.js';

/**
 * Keys and their beginnings, to compare with a path that no key takes: `clinet.name` was meant for `client`.
 * @param keys paths as `pickKeys` takes them
 * @returns the key of each; of several that begin with it the first
 */
export function keyBeginnings(keys: readonly string[], limit: number): ReadonlyMap<string, string> {
  const beginnings = new Map(keys.slice(0, limit).map((key) => [key, key]));
  for (const key of keys.slice(0, limit)) {
    const path = parseKey(key);
    for (let length = 1; length < path.length && beginnings.size < limit; length += 1) {
      const beginning = writePath(path.slice(0, length));
      beginnings.set(beginning, beginnings.get(beginning) ?? key);
    }
  }
  return beginnings;
}
