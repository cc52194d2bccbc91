import { isCelList, isCelMap, type CelValue } from '@bufbuild/cel';
import { ExpressionError } from './expression.errors.js';
import { EXPRESSION_LIMITS } from './expression.types.js';

/** Characters that one step pays for. */
const CHARACTERS_A_STEP = 256;

/** Counts the work of one evaluation, so that no expression keeps the event loop busy for long. */
export class CelMeter {
  private left: number = EXPRESSION_LIMITS.steps;

  /** Before each evaluation. */
  reset(): void {
    this.left = EXPRESSION_LIMITS.steps;
  }

  /**
   * @throws ExpressionError once the evaluation has done more than it may. It is thrown through the whole evaluation: an error
   * value could be swallowed by `||`.
   */
  charge(steps: number): void {
    this.left -= steps;
    if (this.left < 0) {
      throw new ExpressionError('The expression takes too many steps.', 'limit');
    }
  }

  /** Pays for reading a text once. */
  chargeText(length: number): void {
    this.charge(Math.floor(length / CHARACTERS_A_STEP));
  }

  /** Pays for going through a value and all that is in it. */
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
