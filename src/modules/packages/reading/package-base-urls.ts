import { isJsonObject, type JsonObject } from '../../../common/json.js';

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
