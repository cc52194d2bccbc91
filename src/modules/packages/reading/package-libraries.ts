import { isJsonObject, type JsonObject } from '../../../common/json.js';

/**
 * A package document with another build of a library. A folder under version control cannot know the ids that builds get later.
 * @param builds build ids by application
 */
export function withLibraryBuilds(document: JsonObject, builds: ReadonlyMap<string, string>): JsonObject {
  const { application } = document;
  if (!isJsonObject(application) || !Array.isArray(application['libraries'])) {
    return document;
  }
  const libraries = application['libraries'].map((library: unknown) => {
    const buildId = isJsonObject(library) ? builds.get(String(library['appId'])) : undefined;
    return isJsonObject(library) && buildId !== undefined ? { ...library, buildId } : library;
  });
  return { ...document, application: { ...application, libraries } };
}
