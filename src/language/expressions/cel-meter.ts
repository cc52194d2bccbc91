import { isCelList, isCelMap, type CelValue } from '@bufbuild/cel';
import { WorkBudget } from './work-budget.js';

/** Characters that one step pays for. */
const CHARACTERS_A_STEP = 256;

/** What the functions of one compiled expression charge: the budget of the evaluation that is going on. */
export class CelMeter {
  private budget = new WorkBudget();

  /** Before each evaluation. */
  begin(budget: WorkBudget): void {
    this.budget = budget;
  }

  /** @throws ExpressionError once there is nothing left */
  charge(steps: number): void {
    this.budget.charge(steps);
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
