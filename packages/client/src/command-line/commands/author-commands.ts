import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { PackageProblem } from '../../index.js';
import { problemLine } from '../delivery/delivery-lines.js';
import { readPackageFolder } from '../../../../../src/delivery/packages/reading/package-folder.js';
import { PackagesService } from '../../../../../src/delivery/packages/packages.service.js';
import { UsageError, type Session, type SvcSurroundings } from '../session.js';
import { APP_ID, starterApplication } from '../starter-application.js';

/**
 * Writes a small application that runs into a new folder.
 * @throws UsageError when a file of it is there already; then nothing is written over
 */
export async function initApplication(
  session: Session,
  folder: string,
  { app }: { app?: string },
): Promise<number> {
  const root = session.surroundings.pathOf(folder);
  const appId = app ?? basename(root);
  if (!APP_ID.test(appId)) {
    throw new UsageError(
      'The id of an application has letters, digits, ".", "_" and "-": give one by --app.',
    );
  }
  const files = Object.entries(starterApplication(appId));
  for (const [path, text] of files) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: 'wx' }).catch((error: unknown) => {
      throw new UsageError(
        (error as NodeJS.ErrnoException).code === 'EEXIST'
          ? `${path} is there already in ${folder}.`
          : `${folder} cannot be written to.`,
      );
    });
  }
  session.show({ appId, folder: root, files: files.map(([path]) => path) }, () => [
    ...files.map(([path]) => join(folder, path)),
    '',
    'Now:',
    `  svc validate ${folder}`,
    `  svc deliver ${folder} --version v1 --commit --build --activate`,
    `  svc start ${appId} greeting`,
    `  svc act INSTANCE tell --data '{ "name": "Ada" }'`,
    '  svc show INSTANCE',
  ]);
  return 0;
}

/** Checks a folder as a delivery would, as far as that can be done without a service. */
export async function validateFolder(session: Session, folder: string): Promise<number> {
  const { problems, left } = await problemsOf(session.surroundings, folder);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  session.show({ valid: errors === 0, problems, notChecked: left }, () => [
    ...problems.map(problemLine),
    ...left.map((what) => `not checked without a service: ${what}`),
    errors === 0 ? 'The package is valid.' : `Errors: ${errors}`,
  ]);
  return errors === 0 ? 0 : 1;
}

/** The id that the application of a folder has by its own file; undefined when the folder cannot be read. */
export async function appIdOf({ pathOf }: SvcSurroundings, folder: string): Promise<string | undefined> {
  const { document } = await readPackageFolder(pathOf(folder));
  return appIdIn(document);
}

/** The same of a document that was read. */
export function appIdIn(document: Record<string, unknown> | null): string | undefined {
  const application = document?.['application'] as { appId?: unknown } | null | undefined;
  return typeof application?.appId === 'string' ? application.appId : undefined;
}

async function problemsOf(
  { env, pathOf }: SvcSurroundings,
  folder: string,
): Promise<{ problems: PackageProblem[]; left: string[] }> {
  const { document, problems: unread } = await readPackageFolder(pathOf(folder));
  if (document === null) {
    return { problems: unread, left: [] };
  }
  const packages = new PackagesService(env);
  const parsed = packages.parse(document);
  const appId = appIdIn(document) ?? '';
  if (parsed.package === null) {
    const more = await packages.checkParts(parsed.readable, appId);
    return { problems: [...unread, ...packages.limited([...parsed.problems, ...more])], left: [] };
  }
  const libraries = parsed.package.application.libraries.map((library) => library.appId);
  const { problems } = await packages.check(parsed.package, { appId, libraries: [] });
  // What is in a library only the service knows: what refers to it is not told as wrong.
  const told = problems.filter(
    ({ code, message }) =>
      code !== 'LIBRARY_NOT_FOUND' && !libraries.some((name) => message.includes(`library "${name}"`)),
  );
  return { problems: [...unread, ...told], left: libraries.map((name) => `library ${name}`) };
}
