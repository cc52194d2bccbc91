import { omitKeys, untakenPaths, keyBeginnings } from '#engine/paths';
import type { JsonObject } from '#engine/json';
import type { FieldProblem } from '../../platform/errors/request.errors.js';
import { nearestName } from '#engine/support';
import type { UiActionPlace } from '#engine/tokens';
import { refuseFaults } from '../starts/start-choice.js';
import type { RunnableDefinition } from '../definitions/runnable-definitions.service.js';

/** Maximum number of paths in an error. */
const MAX_PATHS = 20;
/** Maximum number of paths with a hint. */
const MAX_HINTS = 5;
/** Maximum number of keys and key prefixes that such a path is compared with. */
const MAX_KEYS_COMPARED = 200;
const NOTHING: ReadonlyMap<string, string> = new Map();

/**
 * Rejects a body that breaks the schema of a UI action, or has values that no key of the action takes and `excludeKeys` does not drop. The
 * body that the author wrote into the UI action is not checked.
 * @throws ValidationFailedError with the paths
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
  const paths = untakenPaths(omitKeys(body, excludeKeys), keys, MAX_PATHS);
  const beginnings = paths.length === 0 ? NOTHING : keyBeginnings(keys, MAX_KEYS_COMPARED);
  return paths.map((field, index) => ({
    field,
    rule:
      keys.length === 0
        ? 'the action accepts no input; remove it'
        : `matches no key of the action; remove it, or add it to keys or excludeKeys of the action.${index < MAX_HINTS ? hint(field, beginnings) : ''}`,
  }));
}

function hint(path: string, beginnings: ReadonlyMap<string, string>): string {
  const nearest = nearestName(path, [...beginnings.keys()]);
  return nearest === undefined ? '' : ` Did you mean ${JSON.stringify(beginnings.get(nearest))}?`;
}
