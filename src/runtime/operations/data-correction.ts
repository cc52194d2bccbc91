import { ValidationFailedError } from '../../platform/errors/request.errors.js';
import { isJsonObject, type JsonObject } from '#engine/json';
import { childOf, mergePatch } from '#engine/paths';
import type { RunnableDefinition } from '../definitions/runnable-definitions.service.js';
import { refuseFaults } from '../starts/start-choice.js';

/** Maximum characters of the values of one correction, before and after, as JSON in ASCII. */
const MAX_LENGTH = 1_048_576;

/**
 * Checks a correction of process data (docs/contract.md, section 7.1).
 * @param data current process data
 * @param patch JSON merge patch (RFC 7396)
 * @returns the changed values, before and after, as JSON in ASCII
 * @throws ValidationFailedError when it breaks a schema of the process or is too large
 * @throws SchemaTooCostlyError
 */
export function correctionText(definition: RunnableDefinition, data: JsonObject, patch: JsonObject): string {
  const corrected = mergePatch(data, patch);
  refuseFaults(definition.faultsOfCorrection(data, corrected, Object.keys(patch)));
  const text = inAscii(
    JSON.stringify({ before: changedPart(patch, data), after: changedPart(patch, corrected) }),
  );
  if (text.length > MAX_LENGTH) {
    const rule = `changes values of more than ${MAX_LENGTH} characters, before and after; correct fewer members per request`;
    throw new ValidationFailedError([{ field: 'data', rule }]);
  }
  return text;
}

/** Returns the part of data that a patch changes. */
function changedPart(patch: JsonObject, data: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(patch).flatMap(([name, value]) => {
      const held = childOf(data, name);
      const isBelow = isJsonObject(value) && isJsonObject(held);
      return held === undefined ? [] : [[name, isBelow ? changedPart(value, held) : held]];
    }),
  );
}

/** Escapes all other characters, so that the text can be split anywhere. */
function inAscii(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
