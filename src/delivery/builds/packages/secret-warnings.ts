import type { PackageProblem, PackageSystem } from '../../packages/model/package.types.js';
import type { SystemsImport } from '../../../systems/delivery/systems-import.types.js';

const DROPPED = 'The connection leads elsewhere now, so its stored secrets were deleted.';
const MISSING =
  'A secret of the system has to be set in the version: that of its account, or the key of its certificate.';

/** What the deliverer has to know of secrets, which packages never hold. */
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
