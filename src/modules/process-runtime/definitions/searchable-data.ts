import type { JsonObject } from '../../../common/json.js';
import { getPath, parsePath, type DataPath } from '../../../language/paths/data-paths.js';
import { searchedText, termHash, type SearchChange } from '../model/search-terms.js';

/** The data by which instances of a definition are found. */
export class SearchableData {
  private readonly members: readonly { path: string; steps: DataPath }[];

  constructor(paths: readonly string[]) {
    this.members = paths.map((path) => ({ path, steps: parsePath(path) }));
  }

  /**
   * What a step has changed of it.
   * @param before null where nothing is stored yet
   */
  changes(before: JsonObject | null, after: JsonObject): SearchChange[] {
    return this.members.flatMap(({ path, steps }, member) => {
      const value = searchedText(getPath(after, steps));
      if (value === searchedText(getPath(before, steps))) {
        return [];
      }
      return [{ member, term: value === undefined ? null : termHash({ path, value }) }];
    });
  }
}
