import { nearestName } from '../support/nearest-name.js';
import { writePath, type KeyTree } from '../paths/data-keys.js';
import type { CheckWork, KnownMembers } from './known-members.js';

const MAX_HINTS = 50;
const MAX_NAMES = 1_000;
/** Shorter names resemble too many unrelated names. */
const HINT_MIN_LENGTH = 6;
/** Placeholder for any name; no real member has it. */
const ANY_NAME = '\0';

/** Names that every process and workflow can read in addition to its data (docs/contract.md, section 5). */
export const BUILT_IN_NAMES: ReadonlySet<string> = new Set(['processInstanceId', 'parentProcessInstanceId']);
const NOTHING: ReadonlySet<string> = new Set();

/** Everything known about the data that expressions read. */
export interface DataSources {
  readonly input: KnownMembers;
  readonly written: readonly KnownMembers[];
  /** Entries of `written` that never have further members. */
  readonly fixed?: readonly KnownMembers[];
  readonly taken: KeyTree;
  readonly isOpen: boolean;
}

/** A path that no known data matches, with the closest known path. */
export interface UnknownPath {
  nearest: string | undefined;
}

/** Checks the paths that expressions read against everything known about the data. */
export class KnownData {
  private readonly isComplete: boolean;
  private hintsLeft = MAX_HINTS;

  constructor(
    private readonly sources: DataSources,
    private readonly work: CheckWork,
  ) {
    this.isComplete = !sources.isOpen && sources.input.look([ANY_NAME]).found === 'missing';
  }

  /**
   * Checks one path of names. Where data may have unknown members, only likely typos are reported.
   * @param isDataOnly whether the place reads only data, not the built-in names of expressions
   * @returns undefined if the path is known or may exist
   */
  check(path: readonly string[], isDataOnly?: boolean): UnknownPath | undefined {
    const { input, written, taken } = this.sources;
    const [root] = path;
    // Lookups are inconclusive once the work budget is spent.
    const builtIn = isDataOnly === true ? NOTHING : BUILT_IN_NAMES;
    if (this.work.isSpent || root === undefined || builtIn.has(root) || overlaps(taken, path)) {
      return undefined;
    }
    const looks = [input, ...written].map((members) => ({ members, look: members.look(path) }));
    const withRoot = looks.filter(({ members }) => members.names.has(root));
    if (
      this.work.isSpent ||
      looks.some(({ look }) => look.found === 'named') ||
      withRoot.some(({ look }) => look.found === 'open')
    ) {
      return undefined;
    }
    return withRoot.length === 0 ? this.unknownRoot(path) : this.unknownMember(path, withRoot);
  }

  private unknownRoot(path: readonly string[]): UnknownPath | undefined {
    const { input, written, taken } = this.sources;
    const known = [...[input, ...written].map(({ names }) => names), taken.names.keys()];
    const near = this.nearest(path[0] ?? '', known);
    const isTypo = near !== undefined && near.length >= HINT_MIN_LENGTH;
    const nearest = near === undefined ? undefined : writePath([near, ...path.slice(1)]);
    return this.isComplete || isTypo ? { nearest } : undefined;
  }

  private unknownMember(
    path: readonly string[],
    withRoot: readonly { members: KnownMembers; look: ReturnType<KnownMembers['look']> }[],
  ): UnknownPath | undefined {
    const missing = withRoot.flatMap(({ look }) => (look.found === 'missing' ? [look] : []));
    const at = Math.max(...missing.map((look) => look.at));
    const known = missing.filter((look) => look.at === at).map(({ siblings }) => siblings);
    const near = this.nearest(path[at] ?? '', known);
    const nearest = near === undefined ? undefined : writePath(path.with(at, near));
    return this.isComplete || near !== undefined || this.isFixed(withRoot) ? { nearest } : undefined;
  }

  private isFixed(withRoot: readonly { members: KnownMembers }[]): boolean {
    const { isOpen, fixed = [] } = this.sources;
    return !isOpen && withRoot.some(({ members }) => fixed.includes(members));
  }

  private nearest(name: string, known: readonly Iterable<string>[]): string | undefined {
    this.hintsLeft -= 1;
    if (this.hintsLeft < 0) {
      return undefined;
    }
    const names = known.flatMap((some) => [...some]);
    return nearestName(name, names.slice(0, MAX_NAMES));
  }
}

/** Whether a path equals, contains or is contained in a path of the tree. */
export function overlaps(tree: KeyTree, path: readonly string[]): boolean {
  let at: KeyTree | undefined = tree;
  for (const name of path) {
    if (at === undefined || at.isTaken) {
      break;
    }
    at = at.names.get(name);
  }
  return at !== undefined;
}
