import { isHttpUrl } from '../../../common/validation/patterns.decorators.js';
import { AuthorizationType } from '../../systems/model/system.types.js';
import type { Problems } from '../model/package-problems.js';
import type { PackageSystem } from '../model/package.types.js';
import { requireUniqueNames } from './names.js';

/** Checks what the schema cannot say about systems: unique names, addresses that can be called and hold no credentials. */
export function checkSystems(systems: readonly PackageSystem[], problems: Problems): void {
  const names = systems.map(({ resourceName, file }) => ({
    name: resourceName,
    file,
    element: '/resourceName',
  }));
  requireUniqueNames('systems', 'SYSTEM_NAME_NOT_UNIQUE', names, problems);
  for (const { file, baseUrl, authorization } of systems) {
    checkUrl(baseUrl, file, '/baseUrl', problems);
    if (authorization.type === AuthorizationType.ServiceAccount) {
      const element = '/authorization/configuration/identityProviderUrl';
      checkUrl(authorization.configuration.identityProviderUrl, file, element, problems);
    }
  }
}

function checkUrl(url: string | null, file: string, element: string, problems: Problems): void {
  if (url !== null && !isHttpUrl(url)) {
    const message = 'Must be an http or https URL without credentials and fragment.';
    problems.error('URL_INVALID', { file, element }, message);
  }
}
