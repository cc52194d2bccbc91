import type { PackageProblem } from '../../../../client/src/index.js';
import { refuseRounded } from '../../parts/json.js';
import { texts } from '../../texts/texts.js';
import { APPLICATION_FILE, PARTS, placeOf, type Part, type Place } from './folder-names.js';

const { applications } = texts;
/** What is read of a folder at the most; what a package may have is for the service to say, and is less. */
const MAX_BYTES = 64 * 1_024 * 1_024;
const MAX_FILES = 10_000;

type Json = Record<string, unknown>;

/** A file of a folder, its path from the top of it, and what it is. */
interface Placed {
  file: File;
  path: string;
  place: Place;
}

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
  /** Names at the top that are no part of a package, and were not expected there. */
  leftOut: readonly string[];
}

/** What a person is told of a folder that cannot be read as a package. */
export class FolderError extends Error {
  constructor(readonly problems: readonly PackageProblem[]) {
    super(applications.folderWrong);
  }
}

/**
 * Reads the folder form of a package: application.json, systems/*.json, workflows/*.json, processes/*.bpmn. What else stands
 * there is left out or refused as by `svc deliver`.
 * @param files with their paths, which begin with the name of the folder
 * @throws FolderError
 */
export async function readPackageFiles(files: readonly File[]): Promise<PackageFiles> {
  const placed = files
    .map((file) => ({ file, path: pathOf(file), place: placeOf(pathOf(file)) }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const application = placed.find(({ place }) => place.is === 'application');
  if (application === undefined) {
    throw new FolderError([problem('FILE_NOT_READABLE', APPLICATION_FILE, applications.noApplicationFile)]);
  }
  refuse(tooMuchOf(placed));
  const problems = wrongOf(placed);
  const textsOf = async (part: Part): Promise<{ file: string; text: string | undefined }[]> =>
    Promise.all(
      filesOf(placed, part).map(async (one) => ({ file: one.path, text: await textOfFile(one, problems) })),
    );
  const jsonsOf = async (part: Part): Promise<Json[]> =>
    (await textsOf(part)).map(({ file, text }) => ({ ...jsonOf(text, file, problems), file }));
  const document = {
    application: jsonOf(await textOfFile(application, problems), APPLICATION_FILE, problems),
    systems: await jsonsOf('systems'),
    workflows: await jsonsOf('workflows'),
    processes: (await textsOf('processes')).map(({ file, text }) => ({ file, bpmn: text ?? '' })),
  };
  refuse(problems);
  const unknown = placed.flatMap(({ place }) => (place.is === 'unknown' ? [place.name] : []));
  return { document, leftOut: [...new Set(unknown)] };
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

/**
 * The same package with other builds of libraries, and systems at other addresses: one folder serves several environments.
 * @param builds by applications; what is not in it stays as the folder has it
 * @param addresses by names of systems, in the same way
 */
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
  return isJson(one) && value !== undefined ? { ...one, [member]: value } : one;
}

function refuse(problems: readonly PackageProblem[]): void {
  if (problems.length > 0) {
    throw new FolderError(problems);
  }
}

function filesOf(placed: readonly Placed[], part: Part): Placed[] {
  return placed.filter(({ place }) => place.is === 'part' && place.part === part);
}

/** What makes a folder too large to be read here. */
function tooMuchOf(placed: readonly Placed[]): PackageProblem[] {
  const parts = PARTS.map((part) => ({ part, found: filesOf(placed, part) }));
  const bytes = placed
    .filter(({ place }) => place.is === 'application' || place.is === 'part')
    .reduce((sum, { file }) => sum + file.size, 0);
  return [
    ...parts
      .filter(({ found }) => found.length > MAX_FILES)
      .map(({ part, found }) =>
        problem('TOO_MANY', part, applications.tooManyFiles(MAX_FILES, found.length)),
      ),
    ...(bytes > MAX_BYTES ? [problem('PACKAGE_TOO_LARGE', '', applications.tooLarge(MAX_BYTES, bytes))] : []),
  ];
}

/** What may not stand where it stands: a folder is told once. */
function wrongOf(placed: readonly Placed[]): PackageProblem[] {
  const wrong = placed.flatMap(({ place }) =>
    place.is === 'wrong' ? [problem(place.code, place.file, place.message)] : [],
  );
  return [...new Map(wrong.map((one) => [one.file, one])).values()];
}

/** The text of a file; undefined where the problems say why it has none. */
async function textOfFile({ file, path }: Placed, problems: PackageProblem[]): Promise<string | undefined> {
  const bytes = await file.arrayBuffer().catch(() => null);
  if (bytes === null) {
    problems.push(problem('FILE_NOT_READABLE', path, applications.notReadable));
    return undefined;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    problems.push(problem('ENCODING_INVALID', path, applications.noUtf8));
    return undefined;
  }
}

function jsonOf(text: string | undefined, file: string, problems: PackageProblem[]): Json {
  if (text === undefined) {
    return {};
  }
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/, ''), refuseRounded) as unknown;
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

function pathOf(file: File): string {
  // Where there are no folders, as in Node, its type has no such member.
  const { name, webkitRelativePath: path }: { name: string; webkitRelativePath?: string } = file;
  return path === undefined || path === '' ? name : path.slice(path.indexOf('/') + 1);
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
