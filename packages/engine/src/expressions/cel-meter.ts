import { isCelList, isCelMap, type CelValue } from '@bufbuild/cel';
import { MeteredPatterns } from './metered-pattern.js';
import { findUnbuiltClass } from './unicode-classes.js';
import { WorkBudget } from './expression-limits.js';

const CHARACTERS_A_STEP = 256;

/** Charges the functions of a compiled expression to the budget of the current evaluation. */
export class CelMeter {
  private budget = new WorkBudget();
  private patterns: MeteredPatterns | undefined;

  constructor(private readonly source: string) {}

  /** Call before each evaluation. */
  begin(budget: WorkBudget): void {
    this.budget = budget;
  }

  /** Call after each evaluation. Releases the compiled patterns, since expressions are cached. */
  end(): void {
    this.patterns = undefined;
  }

  /**
   * Whether an RE2 pattern matches part of a text. Each pattern is compiled once per evaluation.
   * @throws Error when the pattern is invalid or names a Unicode class whose table is not built yet
   * @throws ExpressionError once the budget is exhausted
   */
  matches(text: string, pattern: string): boolean {
    const unbuilt = findUnbuiltClass(pattern, this.source);
    if (unbuilt !== undefined) {
      throw new Error(
        `a pattern from data names \\p{${unbuilt}}, which must be written in the expression itself`,
      );
    }
    this.patterns ??= new MeteredPatterns();
    const charge = (steps: number): void => this.charge(steps);
    this.patterns.compile(pattern, charge);
    return this.patterns.test(pattern, text, charge);
  }

  /** @throws ExpressionError once the budget is exhausted */
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
