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
