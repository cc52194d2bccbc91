import { certificatesRule } from '../../../platform/tls/certificates.js';
import { isPlain, PLAIN_HTTP_RULE, type PlainHttp } from '../../../platform/outbound/address-policy.js';
import { headerNamesRule } from '../../../platform/validation/credential-rules.js';
import { isHttpUrl } from '../../../platform/validation/patterns.decorators.js';
import { AuthorizationType } from '../../../systems/model/system.types.js';
import type { PackageProblems } from '../model/package-problems.js';
import type { PackageSystem } from '../model/package.types.js';
import { requireUniqueNames } from './names.js';

/**
 * Checks rules for systems that the schema cannot express: unique names, callable URLs without credentials, readable certificates and valid
 * headers.
 */
export function checkSystems(
  systems: readonly PackageSystem[],
  problems: PackageProblems,
  plainHttp: PlainHttp,
): void {
  const check = (url: string | null, file: string, element: string): void => {
    if (url !== null && !isHttpUrl(url)) {
      const message = 'Must be an http or https URL without credentials and fragment.';
      problems.error('URL_INVALID', { file, element }, message);
    } else if (url !== null && isPlain(new URL(url), plainHttp)) {
      problems.error('PLAIN_HTTP', { file, element }, `It ${PLAIN_HTTP_RULE}.`);
    }
  };
  const names = systems.map(({ resourceName, file }) => ({
    name: resourceName,
    file,
    element: '/resourceName',
  }));
  requireUniqueNames('systems', 'SYSTEM_NAME_NOT_UNIQUE', names, problems);
  for (const { file, baseUrl, authorization, tls, headers = [] } of systems) {
    const { headerName } = authorization.type === AuthorizationType.ApiKey ? authorization.configuration : {};
    const rule = headerNamesRule(headers, headerName);
    if (rule !== undefined) {
      problems.error('HEADERS_INVALID', { file, element: '/headers' }, `It ${rule}.`);
    }
    check(baseUrl, file, '/baseUrl');
    checkCertificates(tls?.caCertificates, file, problems);
    if (authorization.type === AuthorizationType.ServiceAccount) {
      const element = '/authorization/configuration/identityProviderUrl';
      check(authorization.configuration.identityProviderUrl, file, element);
    }
  }
}

function checkCertificates(pem: string | undefined, file: string, problems: PackageProblems): void {
  const rule = pem === undefined ? undefined : certificatesRule(pem);
  if (rule !== undefined) {
    problems.error('CERTIFICATES_INVALID', { file, element: '/tls/caCertificates' }, `It ${rule}.`);
  }
}
