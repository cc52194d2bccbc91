import { omitKeys, untakenPaths } from '../../common/data-keys.js';
import type { JsonObject } from '../../common/data-paths.js';
import type { FieldProblem } from '../../common/errors/request.errors.js';
import { didYouMean } from '../../common/nearest-name.js';
import type { UiActionPlace } from './engine/runtime-definition.js';
import { refuseFaults } from './start-choice.js';
import type { RunnableDefinition } from './step/runnable-definition.js';

/** Paths that are told; a body can have very many. */
const MAX_PATHS = 20;
/** Keys that a path is compared with for a hint. */
const MAX_KEYS_COMPARED = 200;

/**
 * Refuses what a caller sends for a UI action: what breaks its schema, and what would be lost because `excludeKeys` does not drop it and no
 * key of the action takes it. The body that the author wrote into the UI action is not judged.
 * @throws ValidationFailedError that names the paths
 */
export function refuseInput(definition: RunnableDefinition, place: UiActionPlace, body: JsonObject): void {
  const faults = definition.faultsOfUiAction(place.uiAction, body);
  const faulty = new Set(faults.map(({ field }) => field));
  refuseFaults([...faults, ...untaken(place, body).filter(({ field }) => !faulty.has(field))]);
}

function untaken(
  { action: { keys }, uiAction: { excludeKeys } }: UiActionPlace,
  body: JsonObject,
): FieldProblem[] {
  const compared = keys.slice(0, MAX_KEYS_COMPARED);
  return untakenPaths(omitKeys(body, excludeKeys), keys, MAX_PATHS).map((field) => ({
    field,
    rule:
      keys.length === 0
        ? 'the action takes no input; leave it out'
        : `is taken by no key of the action; leave it out, or let the action name it in keys or excludeKeys.${didYouMean(field, compared)}`,
  }));
}
