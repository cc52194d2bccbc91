import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { PackageProblem } from '../../index.js';
import { problemLine } from '../delivery/delivery-lines.js';
import { readPackageFolder } from '../../../../../src/delivery/packages/reading/package-folder.js';
import { PackagesService } from '../../../../../src/delivery/packages/packages.service.js';
import { UsageError, type Session, type SvcEnvironment } from '../session.js';
import { APP_ID, starterApplication } from '../starter-application.js';

/**
 * Writes a small runnable application into a new folder.
 * @throws UsageError when one of its files exists already; files are never overwritten
 */
export async function initApplication(
  session: Session,
  folder: string,
  { app }: { app?: string },
): Promise<number> {
  const root = session.environment.pathOf(folder);
  const appId = app ?? basename(root);
  if (!APP_ID.test(appId)) {
    throw new UsageError(
      'The id of an application consists of letters, digits, ".", "_" and "-". Set it with --app.',
    );
  }
  const files = Object.entries(starterApplication(appId));
  for (const [path, text] of files) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: 'wx' }).catch((error: unknown) => {
      throw new UsageError(
        (error as NodeJS.ErrnoException).code === 'EEXIST'
          ? `${path} already exists in ${folder}.`
          : `Cannot write to ${folder}.`,
      );
    });
  }
  session.show({ appId, folder: root, files: files.map(([path]) => path) }, () => [
    ...files.map(([path]) => join(folder, path)),
    '',
    'Next steps:',
    `  svc validate ${folder}`,
    `  svc deliver ${folder} --version v1 --commit --build --activate`,
    `  svc start ${appId} greeting`,
    `  svc act INSTANCE tell --data '{ "name": "Ada" }'`,
    '  svc show INSTANCE',
  ]);
  return 0;
}

/** Checks a folder as a delivery would, as far as possible without a service. */
export async function validateFolder(session: Session, folder: string): Promise<number> {
  const { problems, notChecked } = await problemsOf(session.environment, folder);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  session.show({ valid: errors === 0, problems, notChecked }, () => [
    ...problems.map(problemLine),
    ...notChecked.map((what) => `not checked without a service: ${what}`),
    errors === 0 ? 'The package is valid.' : `Errors: ${errors}`,
  ]);
  return errors === 0 ? 0 : 1;
}

/** Returns the application id in a folder; undefined when the folder cannot be read. */
export async function appIdOf({ pathOf }: SvcEnvironment, folder: string): Promise<string | undefined> {
  const { document } = await readPackageFolder(pathOf(folder));
  return appIdIn(document);
}

/** Returns the application id in a package document. */
export function appIdIn(document: Record<string, unknown> | null): string | undefined {
  const application = document?.['application'] as { appId?: unknown } | null | undefined;
  return typeof application?.appId === 'string' ? application.appId : undefined;
}

async function problemsOf(
  { env, pathOf }: SvcEnvironment,
  folder: string,
): Promise<{ problems: PackageProblem[]; notChecked: string[] }> {
  const { document, problems: unread } = await readPackageFolder(pathOf(folder));
  if (document === null) {
    return { problems: unread, notChecked: [] };
  }
  const packages = new PackagesService(env);
  const parsed = packages.parse(document);
  const appId = appIdIn(document) ?? '';
  if (parsed.package === null) {
    const more = await packages.checkParts(parsed.readable, appId);
    return { problems: [...unread, ...packages.limited([...parsed.problems, ...more])], notChecked: [] };
  }
  const libraries = parsed.package.application.libraries.map((library) => library.appId);
  const { problems } = await packages.check(parsed.package, { appId, libraries: [] });
  // Only the service knows the contents of libraries, so drop problems about references to them.
  const relevant = problems.filter(
    ({ code, message }) =>
      code !== 'LIBRARY_NOT_FOUND' && !libraries.some((name) => message.includes(`library "${name}"`)),
  );
  return { problems: [...unread, ...relevant], notChecked: libraries.map((name) => `library ${name}`) };
}
