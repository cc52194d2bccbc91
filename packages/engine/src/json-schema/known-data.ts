import { nearestName } from '../support/nearest-name.js';
import { writePath, type KeyTree } from '../paths/data-keys.js';
import type { CheckWork, KnownMembers } from './known-members.js';

const MAX_HINTS = 50;
const MAX_NAMES = 1_000;
/** Short names are near to many others that mean something else. */
const HINT_MIN_LENGTH = 6;
/** A name that nobody gives: what is known of it is known of any name. */
const ANY_NAME = '\0';

/** What every process and every workflow can read besides its data (docs/contract.md, section 5). */
export const ALWAYS_THERE: ReadonlySet<string> = new Set(['processInstanceId', 'parentProcessInstanceId']);
const NOTHING: ReadonlySet<string> = new Set();

/** What is known of data that expressions read. */
export interface DataSources {
  readonly input: KnownMembers;
  readonly written: readonly KnownMembers[];
  /** Those of the written ones that have no other members, whatever else comes in. */
  readonly fixed?: readonly KnownMembers[];
  readonly taken: KeyTree;
  readonly isOpen: boolean;
}

/** A path that leads to nothing that is known. */
export interface UnknownPath {
  nearest: string | undefined;
}

/** Holds paths that are read against all that is known of the data. */
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
   * Judges one path of names. Where data may have members of which nothing is known, only what looks like a slip of the pen counts.
   * @param isDataOnly whether the place reads data alone, without what expressions know besides it
   * @returns undefined for a path that is known, or that may be there
   */
  judge(path: readonly string[], isDataOnly?: boolean): UnknownPath | undefined {
    const { input, written, taken } = this.sources;
    const [root] = path;
    // Without work left a look says nothing.
    const besides = isDataOnly === true ? NOTHING : ALWAYS_THERE;
    if (this.work.isSpent || root === undefined || besides.has(root) || meets(taken, path)) {
      return undefined;
    }
    const looks = [input, ...written].map((members) => ({ members, look: members.look(path) }));
    const knowing = looks.filter(({ members }) => members.names.has(root));
    if (
      this.work.isSpent ||
      looks.some(({ look }) => look.found === 'named') ||
      knowing.some(({ look }) => look.found === 'open')
    ) {
      return undefined;
    }
    return knowing.length === 0 ? this.unknownRoot(path) : this.unknownMember(path, knowing);
  }

  private unknownRoot(path: readonly string[]): UnknownPath | undefined {
    const { input, written, taken } = this.sources;
    const known = [...[input, ...written].map(({ names }) => names), taken.names.keys()];
    const near = this.nearest(path[0] ?? '', known);
    const isSlip = near !== undefined && near.length >= HINT_MIN_LENGTH;
    const nearest = near === undefined ? undefined : writePath([near, ...path.slice(1)]);
    return this.isComplete || isSlip ? { nearest } : undefined;
  }

  private unknownMember(
    path: readonly string[],
    knowing: readonly { members: KnownMembers; look: ReturnType<KnownMembers['look']> }[],
  ): UnknownPath | undefined {
    const missing = knowing.flatMap(({ look }) => (look.found === 'missing' ? [look] : []));
    const at = Math.max(...missing.map((look) => look.at));
    const known = missing.filter((look) => look.at === at).map(({ siblings }) => siblings);
    const near = this.nearest(path[at] ?? '', known);
    const nearest = near === undefined ? undefined : writePath(path.with(at, near));
    return this.isComplete || near !== undefined || this.isFixed(knowing) ? { nearest } : undefined;
  }

  private isFixed(knowing: readonly { members: KnownMembers }[]): boolean {
    const { isOpen, fixed = [] } = this.sources;
    return !isOpen && knowing.some(({ members }) => fixed.includes(members));
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

/** Whether a path leads to one of the tree, below it, or to something around it. */
export function meets(tree: KeyTree, path: readonly string[]): boolean {
  let at: KeyTree | undefined = tree;
  for (const name of path) {
    if (at === undefined || at.isTaken) {
      break;
    }
    at = at.names.get(name);
  }
  return at !== undefined;
}
