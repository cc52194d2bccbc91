import type { PackageProblem } from '../../../../clients/typescript/src/index.js';
import { texts } from '../../texts/texts.js';

const { applications } = texts;
const APPLICATION_FILE = 'application.json';
/** How the files of a part end. */
const PARTS = { systems: '.json', workflows: '.json', processes: '.bpmn' } as const;

type Part = keyof typeof PARTS;
type Json = Record<string, unknown>;

/** A library that an application names, and the build of it. */
export interface NamedLibrary {
  appId: string;
  buildId: string;
}

/** A folder as the document of a package that the service takes. What it means, and whether it is right, the service says. */
export interface PackageFiles {
  document: {
    application: Json;
    systems: Json[];
    workflows: Json[];
    processes: { file: string; bpmn: string }[];
  };
  /** Paths of files that are no part of a package. */
  leftOut: readonly string[];
}

/** What a person is told of a folder that cannot be read as a package. */
export class FolderError extends Error {
  constructor(readonly problems: readonly PackageProblem[]) {
    super(applications.folderWrong);
  }
}

/**
 * Reads the folder form of a package: application.json, systems/*.json, workflows/*.json, processes/*.bpmn.
 * @param files with their paths, which begin with the name of the folder
 * @throws FolderError
 */
export async function readPackageFiles(files: readonly File[]): Promise<PackageFiles> {
  const placed = files
    .map((file) => ({ file, path: pathOf(file) }))
    .filter(({ path }) => !path.split('/').some((name) => name.startsWith('.')))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const problems: PackageProblem[] = [];
  const read = async (part: Part): Promise<Json[]> => {
    const found = placed.filter(({ path }) => partOf(path) === part);
    const all = await Promise.all(
      found.map(async ({ path, file }) => ({ ...jsonOf(await file.text(), path, problems), file: path })),
    );
    return all;
  };
  const application = placed.find(({ path }) => path === APPLICATION_FILE);
  if (application === undefined) {
    throw new FolderError([problem('FILE_NOT_READABLE', APPLICATION_FILE, applications.noApplicationFile)]);
  }
  const document = {
    application: jsonOf(await application.file.text(), APPLICATION_FILE, problems),
    systems: await read('systems'),
    workflows: await read('workflows'),
    processes: await Promise.all(
      placed
        .filter(({ path }) => partOf(path) === 'processes')
        .map(async ({ path, file }) => ({ file: path, bpmn: await file.text() })),
    ),
  };
  if (problems.length > 0) {
    throw new FolderError(problems);
  }
  const isPart = (path: string): boolean => path === APPLICATION_FILE || partOf(path) !== undefined;
  return { document, leftOut: placed.map(({ path }) => path).filter((path) => !isPart(path)) };
}

/** The libraries that the application of a folder names. */
export function librariesOf({ document: { application } }: PackageFiles): NamedLibrary[] {
  const { libraries } = application;
  return (Array.isArray(libraries) ? (libraries as unknown[]) : []).flatMap((one) =>
    isJson(one) ? [{ appId: textOf(one['appId']), buildId: textOf(one['buildId']) }] : [],
  );
}

/** The systems of a folder that stand at an address: their names, and where. */
export function addressesOf({ document: { systems } }: PackageFiles): { name: string; baseUrl: string }[] {
  return systems.flatMap((system) =>
    typeof system['baseUrl'] === 'string'
      ? [{ name: textOf(system['resourceName']), baseUrl: system['baseUrl'] }]
      : [],
  );
}

/** The same package with other builds of libraries, and systems at other addresses: one folder serves several environments. */
export function withChoices(
  { document }: PackageFiles,
  builds: ReadonlyMap<string, string>,
  addresses: ReadonlyMap<string, string>,
): PackageFiles['document'] {
  const { application, systems } = document;
  const { libraries } = application;
  const chosen = Array.isArray(libraries)
    ? { libraries: (libraries as unknown[]).map((one) => replaced(one, 'appId', 'buildId', builds)) }
    : {};
  return {
    ...document,
    application: { ...application, ...chosen },
    systems: systems.map((one) => replaced(one, 'resourceName', 'baseUrl', addresses) as Json),
  };
}

function replaced(one: unknown, key: string, member: string, by: ReadonlyMap<string, string>): unknown {
  const value = isJson(one) ? by.get(textOf(one[key])) : undefined;
  return isJson(one) && value !== undefined && value !== '' ? { ...one, [member]: value } : one;
}

function jsonOf(text: string, file: string, problems: PackageProblem[]): Json {
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
    if (isJson(value)) {
      return value;
    }
    problems.push(problem('VALUE_INVALID', file, applications.noObject));
  } catch (error) {
    problems.push(
      problem('JSON_INVALID', file, applications.noJson(error instanceof Error ? error.message : '')),
    );
  }
  return {};
}

function problem(code: string, file: string, message: string): PackageProblem {
  return { severity: 'error', code, message, file, element: null };
}

function partOf(path: string): Part | undefined {
  const [folder = '', name, ...deeper] = path.split('/');
  const known = (Object.keys(PARTS) as Part[]).find((part) => part === folder);
  return known !== undefined && name?.endsWith(PARTS[known]) === true && deeper.length === 0
    ? known
    : undefined;
}

function pathOf({ webkitRelativePath, name }: File): string {
  return webkitRelativePath === '' ? name : webkitRelativePath.slice(webkitRelativePath.indexOf('/') + 1);
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
