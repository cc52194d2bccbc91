import type { WorkBudget } from './work-budget.js';

/** A CEL expression, parsed and checked once. It keeps nothing between evaluations; callers cache it. */
export interface CompiledExpression {
  readonly source: string;
  /** Names of the process data it reads, without those of its macros. `input.amount` counts as `amount`. */
  readonly roots: readonly string[];
  /**
   * The value as plain JSON.
   * @param data process data; it is only read
   * @param budget shared with others; without it the expression may do `EXPRESSION_LIMITS.steps` by itself
   * @throws ExpressionError for anything that goes wrong: a missing field, types that do not fit, a limit
   */
  evaluate(data: Readonly<Record<string, unknown>>, budget?: WorkBudget): unknown;
  /**
   * The value of a condition.
   * @throws ExpressionError as for `evaluate`, and when the value is not a boolean: an error is never "false"
   */
  test(data: Readonly<Record<string, unknown>>, budget?: WorkBudget): boolean;
}

/** Text with `${…}` references to process data, parsed once. */
export interface CompiledTemplate {
  readonly source: string;
  /** Names of the process data it reads. */
  readonly roots: readonly string[];
  /**
   * The text with every reference replaced: strings as they are, other values as JSON, a missing path by nothing. Inserted text
   * is never expanded again.
   * @param budget for expressions and each inserted byte; without it the expressions of one rendering may do
   * `EXPRESSION_LIMITS.steps` together
   * @param encode makes the inserted text of the text of a reference: for places such as URLs
   * @returns the text, and the references that led nowhere, as they are written, each once
   * @throws ExpressionError when a reference is an expression that fails otherwise, or the text becomes too long
   */
  render(
    data: Readonly<Record<string, unknown>>,
    budget?: WorkBudget,
    encode?: (text: string, value: unknown) => string,
  ): { text: string; missing: string[] };
  /**
   * When the whole source is one reference, its value as JSON (null when missing); else the rendered text. The value may share
   * its parts with the data, so it is to be read only.
   * @throws ExpressionError as for `render`
   */
  value(data: Readonly<Record<string, unknown>>, budget?: WorkBudget): { value: unknown; missing: string[] };
}

/** JSON with `${…}` references in its strings, or instead of values, parsed once. */
export interface CompiledJsonTemplate {
  /** Names of the process data it reads. */
  readonly roots: readonly string[];
  /**
   * The JSON value with every reference replaced. The value may share its parts with the data, so it is to be read only.
   * @param budget as for `CompiledTemplate.render`
   * @throws ExpressionError when a reference is an expression that fails, or the value becomes too large
   */
  render(data: Readonly<Record<string, unknown>>, budget?: WorkBudget): { value: unknown; missing: string[] };
}

/** What a template may grow to. */
export interface TemplateLimits {
  /** UTF-8 bytes of the rendered text, or of the inserted parts of a JSON value. */
  readonly maxBytes: number;
}

/** The name by which an expression reads all process data, unless the data has a member of that name. */
export const DATA_ALIAS = 'input';

export const DEFAULT_TEMPLATE_LIMITS: TemplateLimits = { maxBytes: 1_048_576 };
