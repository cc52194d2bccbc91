import type { PackageProblem } from '../../packages/model/package.types.js';
import type { BuildLibraryDto } from '../model/package.dto.js';

/** A library that a package names: its index in the list, and the libraries of its build. */
export interface DirectLibrary extends Omit<BuildLibraryDto, 'level'> {
  index: number;
  libraries: BuildLibraryDto[];
}

const FILE = 'application.json';

/**
 * Returns all direct and indirect libraries of a package with their lowest level. Rejects two builds of one application, and the
 * application itself. Other cycles are impossible, because a build can name only builds that existed before it. Mistakes in the package
 * itself are left to its check.
 * @param appId application of the package
 */
export function libraryTree(
  appId: string,
  direct: DirectLibrary[],
): { tree: BuildLibraryDto[]; problems: PackageProblem[] } {
  const tree = new Map<string, BuildLibraryDto>();
  const problems: PackageProblem[] = [];
  // Libraries that the package names come first, so that problems are reported for the library that causes them.
  const candidates = [
    ...direct.map(({ index, appId: id, buildId }) => ({ index, library: { appId: id, buildId, level: 1 } })),
    ...direct.flatMap(({ index, libraries }) =>
      libraries.map((library) => ({ index, library: { ...library, level: library.level + 1 } })),
    ),
  ];
  for (const { index, library } of candidates) {
    const known = tree.get(library.appId);
    if (library.level === 1 && (known !== undefined || library.appId === appId)) {
      // The package names itself, or one application twice: its check reports that.
      continue;
    }
    if (library.appId === appId) {
      problems.push(
        problem('LIBRARY_CYCLE', index, `The library depends on the application ${appId} itself.`),
      );
    } else if (known !== undefined && known.buildId !== library.buildId) {
      const message =
        `The library depends on build ${library.buildId} of ${library.appId}, but build ${known.buildId} of it is ` +
        'already used. Only one build of a library can be used.';
      problems.push(problem('LIBRARY_TWICE', index, message));
    } else if (known === undefined || library.level < known.level) {
      tree.set(library.appId, library);
    }
  }
  return { tree: [...tree.values()], problems };
}

function problem(code: string, index: number, message: string): PackageProblem {
  return { severity: 'error', code, file: FILE, element: `/libraries/${index}`, message };
}
