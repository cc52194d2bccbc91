import { ExpressionError } from './expression.errors.js';

/** Limits for the author of an expression, measured against the event loop, which evaluations share. */
export const EXPRESSION_LIMITS = {
  /** UTF-16 units of one expression. */
  sourceLength: 4096,
  /** Names, numbers, texts, operators and brackets of one expression; what parsing takes grows with them. */
  symbols: 1000,
  /** Brackets within each other. */
  brackets: 32,
  /** White space in a row, for which the parser takes quadratic time. */
  spaces: 100,
  /** Macros inside the body of macros (`all`, `exists`, `exists_one`, `filter`, `map`). */
  macroNesting: 2,
  /** Elements of a list or map that a macro goes through. */
  macroElements: 1000,
  /** Elements of a list that an expression makes. */
  listLength: 10_000,
  /** UTF-16 units of a string that an expression makes, or of a result. */
  resultLength: 1_048_576,
  /** Work of one evaluation: a call, a macro's element, two nodes of the expression or one compared value cost one step each, and patterns what they do. */
  steps: 100_000,
  /** UTF-16 units of one template. */
  templateLength: 1_048_576,
  /** Values of one JSON template, those inside of others included. */
  templateValues: 50_000,
  /** References of one template. */
  references: 1000,
  /** UTF-16 units of all references of one template that are CEL and not plain paths, and their symbols; parsing takes time. */
  referencesLength: 16_384,
  referencesSymbols: 2000,
} as const;

/** What a template may grow to. */
export interface TemplateLimits {
  /** UTF-8 bytes of the rendered text, or of the inserted parts of a JSON value. */
  readonly maxBytes: number;
}

export const DEFAULT_TEMPLATE_LIMITS: TemplateLimits = { maxBytes: 1_048_576 };

/**
 * The work that expressions and templates may do together, in steps of `EXPRESSION_LIMITS`: they run on the event loop, where
 * everybody else waits for them.
 */
export class WorkBudget {
  private charged = 0;

  /** @param steps about half a microsecond each, measured on one core of a small server */
  constructor(readonly steps: number = EXPRESSION_LIMITS.steps) {}

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
