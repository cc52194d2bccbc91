import type { Dirent } from 'node:fs';
import { extname } from 'node:path';
import { didYouMean } from '#engine/support';
import { APPLICATION_FILE } from './package-reader.js';

/** File extensions of the parts of a package. */
export const EXTENSIONS = { systems: '.json', workflows: '.json', processes: '.bpmn' } as const;
const PARTS = Object.keys(EXTENSIONS);
/** Names of the files and folders that make up a package. */
export const TOP_NAMES: readonly string[] = [APPLICATION_FILE, ...PARTS];

/** Other files that are expected next to the package: documentation, and tests with their tools. */
const DOCUMENTATION = /\.(md|txt)$|^(README|LICEN[CS]E)(\.|$)/i;
const TESTS =
  /^(tests?|node_modules|package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|[tj]sconfig.*\.json|.+\.config\.[cm]?[jt]s)$/;

/** Returns whether a top-level name is expected there without being part of the package. */
export function isExpectedExtra(name: string): boolean {
  return DOCUMENTATION.test(name) || TESTS.test(name);
}

/**
 * Returns whether an entry is the README of its folder.
 * @param extension the extension of package files in the folder, one of which may be called "Readme"
 */
export function isReadme(entry: Dirent, extension: string): boolean {
  const name = entry.name.toLowerCase();
  return entry.isFile() && /^readme(\.|$)/.test(name) && !name.endsWith(extension);
}

/**
 * Returns a hint for an unknown top-level name, or an empty string: the name of {@link TOP_NAMES} or the folder that was probably meant.
 */
export function topLevelHint(entry: Dirent): string {
  return entry.isFile()
    ? didYouMean(entry.name, [APPLICATION_FILE]) || folderHint(entry.name)
    : didYouMean(entry.name, PARTS);
}

/** Returns a hint for a file in the wrong folder, or an empty string: where files with its extension belong. */
export function folderHint(name: string): string {
  const extension = extname(name);
  const folders = Object.entries(EXTENSIONS).flatMap(([part, own]) =>
    own === extension ? [`${part}/`] : [],
  );
  return folders.length === 0 ? '' : ` Files that end with "${extension}" belong in ${folders.join(' or ')}.`;
}
