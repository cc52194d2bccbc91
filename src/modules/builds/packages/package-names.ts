import { jsonParts, memberOf } from '../../../common/json-part.js';
import { inTurns } from '../../../common/turns.js';
import type { LibraryReference } from '../../packages/model/package.types.js';
import type { PackageNames } from '../model/builds.types.js';

/** Members of a document, those of its application or its systems, and those of one system. */
const LEVELS = 3;

/** What the document of a package names, without reading the rest of it. Its shape was checked when it was stored. */
export async function namesOf(json: Buffer): Promise<PackageNames> {
  const document = await inTurns(jsonParts(json, LEVELS));
  const libraries = memberOf(memberOf(document, 'application'), 'libraries')?.read() ?? [];
  const systems = memberOf(document, 'systems')?.parts ?? [];
  return {
    libraries: libraries as LibraryReference[],
    systems: systems.map((system) => memberOf(system, 'resourceName')?.read() as string),
  };
}
