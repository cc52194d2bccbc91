import { parsePath } from '../../../language/paths/data-paths.js';
import { writePath } from '../../../language/paths/data-keys.js';
import type { Values } from '../draft/values.js';
import type { ProcessGraph } from '../model/process-graph.types.js';

/** Each is a row of every instance, and a row more that a step may have to change. */
const MAX_SEARCHABLE = 8;
const MAX_LENGTH = 255;

/** Reads `svc:searchable`: by which data instances of a process are found. Each path is written in one way. */
export function searchableOf(values: Values): Pick<ProcessGraph, 'searchable'> {
  const searchable = values.paths('searchable').map((path) => writePath(parsePath(path)));
  const twice = searchable.find((path, index) => searchable.indexOf(path) !== index);
  const unfit = searchable.find((path) => path.length > MAX_LENGTH || path.includes(':'));
  if (searchable.length > MAX_SEARCHABLE) {
    values.error(
      'INVALID_VALUE',
      `searchable names at most ${MAX_SEARCHABLE} paths, not ${searchable.length}.`,
    );
  }
  if (twice !== undefined) {
    values.error('INVALID_VALUE', `searchable names ${twice.slice(0, MAX_LENGTH)} twice.`);
  }
  if (unfit !== undefined) {
    const message = `A path of searchable has at most ${MAX_LENGTH} characters and no colon, which ends it where it is asked for.`;
    values.error('INVALID_VALUE', message);
  }
  return searchable.length === 0 ? {} : { searchable };
}
