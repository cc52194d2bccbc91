import { isJsonObject, type JsonObject } from '#engine/json';

/**
 * Replaces the builds of libraries in a package document, because a folder under version control cannot know ids of later builds.
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
 * Replaces the base URLs of systems in a package document, so that one folder serves several environments.
 * @param baseUrls URLs by `resourceName`
 * @returns the document, the given names that no system has, and the names of its systems
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
