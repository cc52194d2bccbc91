import { texts } from '../../texts/texts.js';

const { applications } = texts;

/** The file of the application. */
export const APPLICATION_FILE = 'application.json';
/** How the files of a part end. */
const ENDINGS = { systems: '.json', workflows: '.json', processes: '.bpmn' } as const;

/** A folder with files of a package. */
export type Part = keyof typeof ENDINGS;

/** The folders with files of a package. */
export const PARTS = Object.keys(ENDINGS) as readonly Part[];

/** What editors and the system keep beside files. */
const HIDDEN = /^\.|~$|^#.*#$|\.(swp|tmp)$|^4913$/;
/** Beside the package stand files for people, and the tests of the application with what their tools need. */
const FOR_PEOPLE = /\.(md|txt)$|^(README|LICEN[CS]E)(\.|$)/i;
const OF_TESTS =
  /^(tests?|node_modules|package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|[tj]sconfig.*\.json|.+\.config\.[cm]?[jt]s)$/;

/** What a file of a folder is for a package: the same as for `svc deliver`. */
export type Place =
  | { is: 'application' | 'beside' }
  | { is: 'part'; part: Part }
  /** `name` stands at the top, and is no part of a package. */
  | { is: 'unknown'; name: string }
  | { is: 'wrong'; code: string; file: string; message: string };

/** What a file is. @param path from the top of the folder */
export function placeOf(path: string): Place {
  const [top = '', name, ...deeper] = path.split('/');
  if (HIDDEN.test(top) || (name !== undefined && HIDDEN.test(name))) {
    return { is: 'beside' };
  }
  const part = PARTS.find((known) => known === top);
  if (part !== undefined) {
    return placeInPart(part, name, deeper.length > 0);
  }
  if (path === APPLICATION_FILE) {
    return { is: 'application' };
  }
  return FOR_PEOPLE.test(top) || OF_TESTS.test(top)
    ? { is: 'beside' }
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
    ? { is: 'beside' }
    : { is: 'wrong', code: 'FILE_UNKNOWN', file, message: applications.otherEnding(part, ending) };
}
