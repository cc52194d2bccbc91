import type { PackageProblem } from '../../../../client/src/index.js';
import { refuseRounded } from '../../parts/json.js';
import { texts } from '../../texts/texts.js';
import { APPLICATION_FILE, PARTS, placeOf, type Part, type Place } from './folder-names.js';

const { applications } = texts;
/** Maximum size of a folder that is read. The service enforces the smaller limits of a package. */
const MAX_BYTES = 64 * 1_024 * 1_024;
const MAX_FILES = 10_000;

type Json = Record<string, unknown>;

/** File with its path in the folder and its role. */
interface Placed {
  file: File;
  path: string;
  place: Place;
}

/** Library build named by an application. */
export interface NamedLibrary {
  appId: string;
  buildId: string;
}

/** Folder as a package document for the service, which validates it. */
export interface PackageFiles {
  document: {
    application: Json;
    systems: Json[];
    workflows: Json[];
    processes: { file: string; bpmn: string }[];
  };
  /** Unexpected files and folders at the top that do not belong to a package. */
  leftOut: readonly string[];
}

/** Thrown when a folder cannot be read as a package. */
export class FolderError extends Error {
  constructor(readonly problems: readonly PackageProblem[]) {
    super(applications.folderWrong);
  }
}

/**
 * Reads the folder form of a package: application.json, systems/*.json, workflows/*.json, processes/*.bpmn. Ignores or rejects other
 * files like `svc deliver`.
 * @param files files whose paths start with the name of the folder
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
  throwIfAny(sizeProblems(placed));
  const problems = placeProblems(placed);
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
  throwIfAny(problems);
  const unknown = placed.flatMap(({ place }) => (place.is === 'unknown' ? [place.name] : []));
  return { document, leftOut: [...new Set(unknown)] };
}

/** Lists the libraries of a package. */
export function librariesOf({ document: { application } }: PackageFiles): NamedLibrary[] {
  const { libraries } = application;
  return (Array.isArray(libraries) ? (libraries as unknown[]) : []).flatMap((one) =>
    isJson(one) ? [{ appId: textOf(one['appId']), buildId: textOf(one['buildId']) }] : [],
  );
}

/** Lists the systems of a package that have an address. */
export function addressesOf({ document: { systems } }: PackageFiles): { name: string; baseUrl: string }[] {
  return systems.flatMap((system) =>
    typeof system['baseUrl'] === 'string'
      ? [{ name: textOf(system['resourceName']), baseUrl: system['baseUrl'] }]
      : [],
  );
}

/**
 * Overrides builds of libraries and addresses of systems, so that one folder serves several environments.
 * @param builds build ids by application id
 * @param addresses addresses by system name
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

function throwIfAny(problems: readonly PackageProblem[]): void {
  if (problems.length > 0) {
    throw new FolderError(problems);
  }
}

function filesOf(placed: readonly Placed[], part: Part): Placed[] {
  return placed.filter(({ place }) => place.is === 'part' && place.part === part);
}

/** Returns the exceeded limits on number and size of files. */
function sizeProblems(placed: readonly Placed[]): PackageProblem[] {
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

/** Returns a problem for each misplaced file, once per folder. */
function placeProblems(placed: readonly Placed[]): PackageProblem[] {
  const wrong = placed.flatMap(({ place }) =>
    place.is === 'wrong' ? [problem(place.code, place.file, place.message)] : [],
  );
  return [...new Map(wrong.map((one) => [one.file, one])).values()];
}

/** Reads the text of a file; undefined after adding a problem. */
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
  // Node's File type has no webkitRelativePath.
  const { name, webkitRelativePath: path }: { name: string; webkitRelativePath?: string } = file;
  return path === undefined || path === '' ? name : path.slice(path.indexOf('/') + 1);
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
