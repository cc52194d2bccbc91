import { isJsonObject, type JsonObject } from '../json/json.js';
import { nearestName } from '../support/nearest-name.js';

/** Names that are looked at: a hostile schema could have thousands, each compared with as many. */
const MAX_NAMES = 200;

/**
 * Says which name under `required` is most likely a slip, since `properties` beside it has it otherwise. Values may have members
 * of which `properties` does not speak, so a name that is near none of them is none.
 * @returns a sentence; undefined where no name looks like a slip
 */
export function misspeltRequired(schema: JsonObject): string | undefined {
  const { properties, required } = schema;
  if (!isJsonObject(properties) || !Array.isArray(required)) {
    return undefined;
  }
  const names = required.filter((name) => typeof name === 'string');
  const free = Object.keys(properties).filter((name) => !names.includes(name));
  const unknown = names.slice(0, MAX_NAMES).filter((name) => !Object.hasOwn(properties, name));
  for (const name of unknown) {
    const nearest = nearestName(name, free.slice(0, MAX_NAMES));
    if (nearest !== undefined) {
      return `"required" names "${name.slice(0, 80)}", of which "properties" does not speak. Did you mean ${JSON.stringify(nearest)}?`;
    }
  }
  return undefined;
}
