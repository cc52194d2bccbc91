import { nearestName } from '#engine/support';
import { packageLimits } from '../package.limits.js';
import type { PackageProblem } from './package.types.js';

/** Location of a problem. */
export interface Place {
  file: string;
  element: string | null;
}

/** Maximum length of a message, since messages quote text of packages. */
const MESSAGE_MAX_LENGTH = 1_000;
/** Maximum number of hints per package, since a hostile one could require a million. */
const MAX_HINTS = 50;
/** Maximum number of names that are compared for a hint. */
const MAX_NAMES = 1_000;

/** Collects the problems of a package up to a limit, since a hostile one could have a million. */
export class PackageProblems {
  private readonly found: PackageProblem[] = [];
  private left = 0;
  private hintsLeft = MAX_HINTS;

  /** @param max maximum number of reported problems */
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
    this.found.push({ ...problem, message: shortened(problem.message, MESSAGE_MAX_LENGTH) });
  }

  /**
   * Returns a hint such as ` Did you mean "score"?`, or an empty string when no name is close.
   * @param names called only while hints are left, since there can be many names
   */
  didYouMean(name: string, names: () => readonly string[]): string {
    this.hintsLeft -= 1;
    const nearest = this.hintsLeft < 0 ? undefined : nearestName(name, names().slice(0, MAX_NAMES));
    return nearest === undefined || nearest === name ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
  }

  /** Number of problems found so far. */
  get count(): number {
    return this.found.length + this.left;
  }

  get hasErrors(): boolean {
    return this.found.some(({ severity }) => severity === 'error');
  }

  /** Whether the limit is reached, so that checks can stop. */
  get isFull(): boolean {
    return this.found.length >= this.max;
  }

  /** Removes a warning to make room for an error, so that authors see all errors at once. */
  private dropWarning(): boolean {
    const last = this.found.findLastIndex(({ severity }) => severity === 'warning');
    return last !== -1 && this.found.splice(last, 1).length > 0;
  }

  /** Returns the problems in the order in which they were found. If some were omitted, the last entry says so. */
  list(): PackageProblem[] {
    if (this.left === 0 && !this.isFull) {
      return this.found;
    }
    const message = `Only ${this.found.length} problems are listed, errors before warnings. There may be more.`;
    return [...this.found, { severity: 'warning', code: 'MORE_PROBLEMS', file: '', element: null, message }];
  }
}

/** Shortens text of a package for a message. Callers add quotation marks. */
export function shortened(text: string, maxLength = 80): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/** Returns a JSON pointer (RFC 6901). */
export function pointerTo(path: readonly PropertyKey[]): string {
  return path
    .map((step) => `/${shortened(String(step), 100).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
