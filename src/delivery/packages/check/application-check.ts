import { APPLICATION_FILE } from '../reading/package-reader.js';
import type { Place, PackageProblems } from '../model/package-problems.js';
import type { CheckContext, PackageApplication } from '../model/package.types.js';
import { packageLimits } from '../package.limits.js';

/** Checks application.json against the path of the delivery and the libraries that exist. */
export function checkApplication(
  application: PackageApplication,
  context: CheckContext,
  problems: PackageProblems,
): void {
  if (application.appId !== context.appId) {
    const message = `The package belongs to application "${application.appId}" and cannot be delivered to "${context.appId}".`;
    problems.error('APPLICATION_MISMATCH', at('/appId'), message);
  }
  const { minDecimals, maxDecimals } = application.settings.numberDisplayFormat;
  if (minDecimals > maxDecimals) {
    const message = '"minDecimals" must not be larger than "maxDecimals".';
    problems.error('VALUE_INVALID', at('/settings/numberDisplayFormat/minDecimals'), message);
  }
  if (application.libraries.length > packageLimits.libraries) {
    const message = `A package can name at most ${packageLimits.libraries} libraries.`;
    problems.error('TOO_MANY', at('/libraries'), message);
  }
  checkLibraries(application, context, problems);
  for (const list of ['usableBy', 'systemsUsableBy'] as const) {
    checkUsers(list, application[list] ?? [], problems);
  }
}

function checkUsers(list: 'usableBy' | 'systemsUsableBy', users: string[], problems: PackageProblems): void {
  const max = packageLimits.libraryUsers;
  if (users.length > max) {
    const message = `A package can name at most ${max} applications here.`;
    problems.error('TOO_MANY', at(`/${list}`), message);
    return;
  }
  for (const [index, user] of users.entries()) {
    if (users.indexOf(user) < index) {
      problems.error('VALUE_INVALID', at(`/${list}/${index}`), `Application "${user}" is named twice.`);
    }
  }
}

function at(element: string): Place {
  return { file: APPLICATION_FILE, element };
}

function checkLibraries(
  application: PackageApplication,
  context: CheckContext,
  problems: PackageProblems,
): void {
  const named = new Set<string>();
  for (const [index, { appId, buildId }] of application.libraries.entries()) {
    const place = at(`/libraries/${index}`);
    if (appId === application.appId) {
      problems.error('LIBRARY_CYCLE', place, 'An application cannot be its own library.');
    } else if (named.has(appId)) {
      const message = `Library "${appId}" is named twice; an application can use only one build of a library.`;
      problems.error('LIBRARY_NOT_UNIQUE', place, message);
    } else if (!context.libraries.some((build) => build.appId === appId && build.buildId === buildId)) {
      const message = `There is no build "${buildId}" of library "${appId}": deliver, commit and build it first.`;
      problems.error('LIBRARY_NOT_FOUND', place, message);
    }
    named.add(appId);
  }
}
