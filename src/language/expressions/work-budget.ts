import { ExpressionError } from './expression.errors.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';

/**
 * The work that expressions and templates may do together, in steps of `EXPRESSION_LIMITS`: they run on the event loop, where
 * everybody else waits for them.
 */
export class WorkBudget {
  private charged = 0;

  /** @param steps about half a microsecond each, measured on one core of a small server */
  constructor(readonly steps: number = EXPRESSION_LIMITS.steps) {}

  /** Steps that were charged. */
  get spent(): number {
    return this.charged;
  }

  /** Whether so much is spent that a long task had better go on another time. */
  get isHalfSpent(): boolean {
    return this.charged * 2 > this.steps;
  }

  /**
   * Pays before the work is done.
   * @throws ExpressionError once more is asked for than there is. It is thrown through a whole evaluation: an error value
   * could be swallowed by `||`.
   */
  charge(steps: number): void {
    this.charged += steps;
    if (this.charged > this.steps) {
      throw new ExpressionError(
        `it takes more than the ${this.steps} steps of work that there are.`,
        'limit',
      );
    }
  }
}
