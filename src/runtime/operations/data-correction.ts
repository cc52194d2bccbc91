import { ValidationFailedError } from '../../platform/errors/request.errors.js';
import { isJsonObject, type JsonObject } from '#engine/json';
import { childOf, mergePatch } from '#engine/paths';
import type { RunnableDefinition } from '../definitions/runnable-definitions.service.js';
import { refuseFaults } from '../starts/start-choice.js';

/** Most characters of the values of one correction, before and after, as JSON in ASCII. */
const MAX_LENGTH = 1_048_576;

/**
 * Checks a correction of process data (docs/contract.md, section 7.1).
 * @param data process data as they are
 * @param patch JSON merge patch (RFC 7396)
 * @returns the values that it changes, before and after, as JSON in ASCII
 * @throws ValidationFailedError when it breaks a schema of the process, or changes more than is kept
 * @throws SchemaTooCostlyError
 */
export function correctionText(definition: RunnableDefinition, data: JsonObject, patch: JsonObject): string {
  const corrected = mergePatch(data, patch);
  refuseFaults(definition.faultsOfCorrection(data, corrected, Object.keys(patch)));
  const text = inAscii(JSON.stringify({ before: touched(patch, data), after: touched(patch, corrected) }));
  if (text.length > MAX_LENGTH) {
    const rule = `changes values of more than ${MAX_LENGTH} characters, before and after; correct fewer members at once`;
    throw new ValidationFailedError([{ field: 'data', rule }]);
  }
  return text;
}

/** Of data what a patch speaks of. */
function touched(patch: JsonObject, data: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(patch).flatMap(([name, value]) => {
      const held = childOf(data, name);
      const isBelow = isJsonObject(value) && isJsonObject(held);
      return held === undefined ? [] : [[name, isBelow ? touched(value, held) : held]];
    }),
  );
}

/** So that it can be cut anywhere. */
function inAscii(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
