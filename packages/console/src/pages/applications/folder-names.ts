import { texts } from '../../texts/texts.js';

const { applications } = texts;

/** Name of the application file. */
export const APPLICATION_FILE = 'application.json';
/** File name extensions by part. */
const ENDINGS = { systems: '.json', workflows: '.json', processes: '.bpmn' } as const;

/** Folder of a package. */
export type Part = keyof typeof ENDINGS;

/** Folders of a package. */
export const PARTS = Object.keys(ENDINGS) as readonly Part[];

/** Files of editors and of the operating system. */
const HIDDEN = /^\.|~$|^#.*#$|\.(swp|tmp)$|^4913$/;
/** Documentation, and tests with their tooling, may be next to the package. */
const DOCUMENTATION = /\.(md|txt)$|^(README|LICEN[CS]E)(\.|$)/i;
const TEST_FILES =
  /^(tests?|node_modules|package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|[tj]sconfig.*\.json|.+\.config\.[cm]?[jt]s)$/;

/** Role of a file in a package, by the same rules as `svc deliver`. */
export type Place =
  | { is: 'application' | 'ignored' }
  | { is: 'part'; part: Part }
  /** `name` is a file or folder at the top that does not belong to a package. */
  | { is: 'unknown'; name: string }
  | { is: 'wrong'; code: string; file: string; message: string };

/** Determines the role of a file. @param path relative to the folder */
export function placeOf(path: string): Place {
  const [top = '', name, ...deeper] = path.split('/');
  if (HIDDEN.test(top) || (name !== undefined && HIDDEN.test(name))) {
    return { is: 'ignored' };
  }
  const part = PARTS.find((known) => known === top);
  if (part !== undefined) {
    return placeInPart(part, name, deeper.length > 0);
  }
  if (path === APPLICATION_FILE) {
    return { is: 'application' };
  }
  return DOCUMENTATION.test(top) || TEST_FILES.test(top)
    ? { is: 'ignored' }
    : { is: 'unknown', name: name === undefined ? top : `${top}/` };
}

function placeInPart(part: Part, name: string | undefined, isFolder: boolean): Place {
  const ending = ENDINGS[part];
  if (name === undefined) {
    return { is: 'wrong', code: 'FILE_NOT_REGULAR', file: part, message: applications.noFolder };
  }
  const file = `${part}/${name}`;
  if (isFolder) {
    return { is: 'wrong', code: 'FILE_NOT_REGULAR', file, message: applications.noFile };
  }
  if (name.endsWith(ending)) {
    return { is: 'part', part };
  }
  return /^readme(\.|$)/i.test(name) && !name.toLowerCase().endsWith(ending)
    ? { is: 'ignored' }
    : { is: 'wrong', code: 'FILE_UNKNOWN', file, message: applications.otherEnding(part, ending) };
}
