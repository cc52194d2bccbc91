import type { PackageProblem, PackageSystem } from '../../packages/model/package.types.js';
import type { SystemsImport } from '../../../systems/delivery/systems-import.types.js';

const DROPPED = 'The connection has changed, so its stored secrets were deleted.';
const MISSING =
  'Set the missing secret of the system in this version: that of its account, or the key of its certificate.';

/** Returns warnings about missing or deleted secrets, which packages never contain. */
export function secretWarnings(
  systems: PackageSystem[],
  { secretsDropped, secretsMissing }: SystemsImport,
): PackageProblem[] {
  const files = new Map(systems.map(({ resourceName, file }) => [resourceName, file]));
  const warning = (code: string, message: string, resourceName: string): PackageProblem => {
    const file = files.get(resourceName) ?? '';
    return { severity: 'warning', code, file, element: '/authorization', message };
  };
  return [
    ...secretsDropped.map((name) => warning('SECRET_DROPPED', DROPPED, name)),
    ...secretsMissing
      .filter((name) => !secretsDropped.includes(name))
      .map((name) => warning('SECRET_MISSING', MISSING, name)),
  ];
}
