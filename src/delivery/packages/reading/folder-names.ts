import type { Dirent } from 'node:fs';
import { extname } from 'node:path';
import { didYouMean } from '#engine/support';
import { APPLICATION_FILE } from './package-reader.js';

/** How files of the parts of a package end. */
export const EXTENSIONS = { systems: '.json', workflows: '.json', processes: '.bpmn' } as const;
const PARTS = Object.keys(EXTENSIONS);
/** What of a folder is the package. */
export const TOP_NAMES: readonly string[] = [APPLICATION_FILE, ...PARTS];

/** Beside the package stand files for people, and the tests of the application with what their tools need. */
const FOR_PEOPLE = /\.(md|txt)$|^(README|LICEN[CS]E)(\.|$)/i;
const OF_TESTS =
  /^(tests?|node_modules|package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|[tj]sconfig.*\.json|.+\.config\.[cm]?[jt]s)$/;

/** Whether a name at the top is expected there without being a part of the package. */
export function standsBeside(name: string): boolean {
  return FOR_PEOPLE.test(name) || OF_TESTS.test(name);
}

/**
 * Whether an entry is a file that tells people about the folder that it stands in.
 * @param extension of the files of the package there: a part may be called "Readme"
 */
export function isReadme(entry: Dirent, extension: string): boolean {
  const name = entry.name.toLowerCase();
  return entry.isFile() && /^readme(\.|$)/.test(name) && !name.endsWith(extension);
}

/** The end of a message about what stands at the top under a name that is none of {@link TOP_NAMES}: what was meant, if that can be seen. */
export function meantAtTop(entry: Dirent): string {
  return entry.isFile()
    ? didYouMean(entry.name, [APPLICATION_FILE]) || placeByEnd(entry.name)
    : didYouMean(entry.name, PARTS);
}

/** The end of a message about a file that is in the wrong folder: where files that end so belong, if anywhere. */
export function placeByEnd(name: string): string {
  const end = extname(name);
  const folders = Object.entries(EXTENSIONS).flatMap(([part, own]) => (own === end ? [`${part}/`] : []));
  return folders.length === 0 ? '' : ` Files that end with "${end}" stand in ${folders.join(' or ')}.`;
}
