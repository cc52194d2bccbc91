import { isJsonObject, type JsonObject } from '../json/json.js';
import { nearestName } from '../support/nearest-name.js';

/** Maximum number of names compared: a hostile schema could have thousands. */
const MAX_NAMES = 200;

/**
 * Describes a name in `required` that is probably a typo of a name in `properties`. Values may have members outside `properties`,
 * so a name that resembles none of them is fine.
 * @returns a sentence, or undefined when no name looks like a typo
 */
export function describeMisspeltRequired(schema: JsonObject): string | undefined {
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
      return `"required" names "${name.slice(0, 80)}", which "properties" does not define. Did you mean ${JSON.stringify(nearest)}?`;
    }
  }
  return undefined;
}
