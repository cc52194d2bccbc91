import { nearestName } from '#engine/support';
import { packageLimits } from '../package.limits.js';
import type { PackageProblem } from './package.types.js';

/** Where something is wrong. */
export interface Place {
  file: string;
  element: string | null;
}

/** Longest message; what a message quotes of a package is cut. */
const MESSAGE_MAX_LENGTH = 1_000;
/** Hints for one package: a hostile one could ask a million times. */
const MAX_HINTS = 50;
/** Names that are looked for near one that is wrong: each is compared with it. */
const MAX_NAMES = 1_000;

/** Collects the problems of a package, up to a limit: a hostile one could have a million. */
export class PackageProblems {
  private readonly found: PackageProblem[] = [];
  private left = 0;
  private hintsLeft = MAX_HINTS;

  /** @param max problems that are told */
  constructor(private readonly max: number = packageLimits.problems) {}

  error(code: string, place: Place, message: string): void {
    this.add({ severity: 'error', code, ...place, message });
  }

  warning(code: string, place: Place, message: string): void {
    this.add({ severity: 'warning', code, ...place, message });
  }

  add(problem: PackageProblem): void {
    if (this.isFull) {
      this.left += 1;
      if (problem.severity === 'warning' || !this.dropWarning()) {
        return;
      }
    }
    this.found.push({ ...problem, message: quoted(problem.message, MESSAGE_MAX_LENGTH) });
  }

  /**
   * The end of a sentence that tells the nearest name: ` Did you mean "score"?`, or nothing.
   * @param names asked for only while there is a hint left: they can be many
   */
  didYouMean(name: string, names: () => readonly string[]): string {
    this.hintsLeft -= 1;
    const nearest = this.hintsLeft < 0 ? undefined : nearestName(name, names().slice(0, MAX_NAMES));
    return nearest === undefined || nearest === name ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
  }

  /** How many were found so far. */
  get count(): number {
    return this.found.length + this.left;
  }

  get hasErrors(): boolean {
    return this.found.some(({ severity }) => severity === 'error');
  }

  /** Nothing more is told: looking for more is wasted. */
  get isFull(): boolean {
    return this.found.length >= this.max;
  }

  /** Makes room for an error: it is never left out in favour of a warning, or its author would read one error at a time. */
  private dropWarning(): boolean {
    const last = this.found.findLastIndex(({ severity }) => severity === 'warning');
    return last !== -1 && this.found.splice(last, 1).length > 0;
  }

  /** The problems, in the order of the files and of the search. The last entry says when some are left out. */
  list(): PackageProblem[] {
    if (this.left === 0 && !this.isFull) {
      return this.found;
    }
    const message = `Only ${this.found.length} problems are told, errors before warnings; there may be more.`;
    return [...this.found, { severity: 'warning', code: 'MORE_PROBLEMS', file: '', element: null, message }];
  }
}

/** Text of a package as a message may show it. */
export function quoted(text: string, maxLength = 80): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/** A JSON pointer (RFC 6901). */
export function pointerTo(path: readonly PropertyKey[]): string {
  return path
    .map((step) => `/${quoted(String(step), 100).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
