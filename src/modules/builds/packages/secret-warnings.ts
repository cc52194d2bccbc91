import type { PackageProblem, PackageSystem } from '../../packages/model/package.types.js';
import type { SystemsImport } from '../../systems/delivery/systems-import.types.js';

/** What the deliverer has to know of secrets, which packages never hold. */
export function secretWarnings(
  systems: PackageSystem[],
  { secretsDropped, secretsMissing }: SystemsImport,
): PackageProblem[] {
  const files = new Map(systems.map(({ resourceName, file }) => [resourceName, file]));
  const warning = (code: string, resourceName: string, message: string): PackageProblem => ({
    severity: 'warning',
    code,
    file: files.get(resourceName) ?? '',
    element: '/authorization',
    message,
  });
  const dropped = new Set(secretsDropped);
  return [
    ...secretsDropped.map((name) =>
      warning(
        'SECRET_DROPPED',
        name,
        'The connection leads elsewhere now, so its stored secrets were deleted.',
      ),
    ),
    ...secretsMissing
      .filter((name) => !dropped.has(name))
      .map((name) =>
        warning(
          'SECRET_MISSING',
          name,
          'A secret of the system has to be set in the version: that of its account, or the key of its certificate.',
        ),
      ),
  ];
}
