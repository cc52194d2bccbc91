import { isCelList, isCelMap, type CelValue } from '@bufbuild/cel';
import { MeteredPatterns } from './metered-pattern.js';
import { unmadeClass } from './unicode-classes.js';
import { WorkBudget } from './expression-limits.js';

const CHARACTERS_A_STEP = 256;

/** The budget that the functions of one compiled expression charge: of the evaluation that is going on. */
export class CelMeter {
  private budget = new WorkBudget();
  private patterns: MeteredPatterns | undefined;

  constructor(private readonly source: string) {}

  /** Before each evaluation. */
  begin(budget: WorkBudget): void {
    this.budget = budget;
  }

  /** After each evaluation: expressions are kept, and must not keep the machines of their patterns. */
  end(): void {
    this.patterns = undefined;
  }

  /**
   * Whether a pattern of RE2 matches a part of a text. A pattern is compiled once in an evaluation.
   * @throws Error when it is no pattern, or names a class of Unicode that would have to be made first
   * @throws ExpressionError once there is nothing left
   */
  matches(text: string, pattern: string): boolean {
    const unmade = unmadeClass(pattern, this.source);
    if (unmade !== undefined) {
      throw new Error(
        `a pattern out of data names \\p{${unmade}}, which must stand in the expression itself`,
      );
    }
    this.patterns ??= new MeteredPatterns();
    const charge = (steps: number): void => this.charge(steps);
    this.patterns.compile(pattern, charge);
    return this.patterns.test(pattern, text, charge);
  }

  /** @throws ExpressionError once there is nothing left */
  charge(steps: number): void {
    this.budget.charge(steps);
  }

  chargeText(length: number): void {
    this.charge(Math.floor(length / CHARACTERS_A_STEP));
  }

  chargeValue(value: CelValue | undefined): void {
    this.charge(1);
    if (typeof value === 'string' || value instanceof Uint8Array) {
      this.chargeText(value.length);
    } else if (isCelList(value)) {
      for (const element of value) {
        this.chargeValue(element);
      }
    } else if (isCelMap(value)) {
      for (const member of value.values()) {
        this.chargeValue(member);
      }
    }
  }
}
