import { ExpressionError } from './expression.errors.js';

/** Limits of expressions and templates, chosen by measurement because all evaluations share the event loop. */
export const EXPRESSION_LIMITS = {
  /** UTF-16 units of one expression. */
  sourceLength: 4096,
  /** Names, numbers, strings, operators and brackets of one expression; parsing time grows with them. */
  symbols: 1000,
  /** Depth of nested brackets. */
  brackets: 32,
  /** Consecutive white space, which takes the parser quadratic time. */
  spaces: 100,
  /** Nesting depth of macros (`all`, `exists`, `exists_one`, `filter`, `map`). */
  macroNesting: 2,
  /** Elements of a list or map that a macro iterates over. */
  macroElements: 1000,
  /** Elements of a list that an expression creates. */
  listLength: 10_000,
  /** UTF-16 units of a string that an expression creates, or of a result. */
  resultLength: 1_048_576,
  /** Work of one evaluation. A call, an element of a macro, two tree nodes or a compared value cost one step each; patterns cost their measured work. */
  steps: 100_000,
  /** UTF-16 units of one template. */
  templateLength: 1_048_576,
  /** Values of one JSON template, nested ones included. */
  templateValues: 50_000,
  /** References of one template. */
  references: 1000,
  /** UTF-16 units and symbols of all references of one template that are CEL, not plain paths. Bounds parsing time. */
  referencesLength: 16_384,
  referencesSymbols: 2000,
} as const;

/** Size limit of a rendered template. */
export interface TemplateLimits {
  /** UTF-8 bytes of the rendered text, or of the inserted parts of a JSON value. */
  readonly maxBytes: number;
}

export const DEFAULT_TEMPLATE_LIMITS: TemplateLimits = { maxBytes: 1_048_576 };

/**
 * Work budget shared by expressions and templates, in steps of `EXPRESSION_LIMITS`. It is limited because they block the event loop.
 */
export class WorkBudget {
  private charged = 0;

  /** @param steps about half a microsecond each, measured on one core of a small server */
  constructor(readonly steps: number = EXPRESSION_LIMITS.steps) {}

  get spent(): number {
    return this.charged;
  }

  /** Whether enough is spent that a long task should continue later. */
  get isHalfSpent(): boolean {
    return this.charged * 2 > this.steps;
  }

  /**
   * Charges for work before it is done.
   * @throws ExpressionError once the budget is exceeded. It aborts the whole evaluation, because `||` could swallow an error value.
   */
  charge(steps: number): void {
    this.charged += steps;
    if (this.charged > this.steps) {
      throw new ExpressionError(`it exceeds the limit of ${this.steps} steps of work.`, 'limit');
    }
  }
}
