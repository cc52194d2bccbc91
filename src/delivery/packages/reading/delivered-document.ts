import { isJsonObject, type JsonObject } from '#engine/json';

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

/**
 * A package document in which systems are reached at other addresses: one folder serves several environments.
 * @param baseUrls addresses by `resourceName`
 * @returns the document, the names that no system of it has, and those that are there
 */
export function withBaseUrls(
  document: JsonObject,
  baseUrls: ReadonlyMap<string, string>,
): { document: JsonObject; unknown: string[]; names: string[] } {
  const systems = Array.isArray(document['systems']) ? (document['systems'] as unknown[]) : [];
  const names = new Set(systems.map(nameOf));
  const unknown = [...baseUrls.keys()].filter((name) => !names.has(name));
  if (baseUrls.size === 0) {
    return { document, unknown, names: [...names] };
  }
  const moved = systems.map((system) => {
    const baseUrl = baseUrls.get(nameOf(system));
    return isJsonObject(system) && baseUrl !== undefined ? { ...system, baseUrl } : system;
  });
  return { document: { ...document, systems: moved }, unknown, names: [...names] };
}

function nameOf(system: unknown): string {
  return isJsonObject(system) ? String(system['resourceName']) : '';
}
