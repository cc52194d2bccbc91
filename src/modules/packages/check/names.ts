import { nameKey } from '../../../common/validation/resource-name.js';
import { quoted, type PackageProblems } from '../model/package-problems.js';

/** Something with a name. */
export interface Named {
  name: string;
  file: string;
  element: string | null;
}

/**
 * Refuses names that occur more than once, compared without case.
 * @param kind of what the names are, as in "Two systems are called …"
 */
export function requireUniqueNames(
  kind: string,
  code: string,
  entries: readonly Named[],
  problems: PackageProblems,
): void {
  const first = new Map<string, Named>();
  for (const { name, file, element } of entries) {
    const known = first.get(nameKey(name));
    if (known === undefined) {
      first.set(nameKey(name), { name, file, element });
    } else {
      const where = known.file === file ? 'in this file' : `in ${known.file}`;
      const message = `Two ${kind} are called "${quoted(known.name)}", the other one ${where}; names are compared without case.`;
      problems.error(code, { file, element }, message);
    }
  }
}
