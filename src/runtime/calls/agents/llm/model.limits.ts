/** Bounds of calls of the language model. */
export const modelLimits = {
  /** Milliseconds that one answer of the model may take, from the first byte sent to the last one read. */
  timeoutMs: 60_000,
  /** Bytes that one answer of the model may have. */
  maxResponseBytes: 1_048_576,
  /** How often a call of the model is repeated after 408, 409, 429, 5xx, a broken connection or an answer that cannot be read. */
  maxRetries: 3,
  /** Milliseconds before the first repetition where the model says nothing of its own (Retry-After); doubles with each. */
  retryBaseMs: 500,
  /** Longest milliseconds before a repetition, also where the model asks for more. */
  retryMaxMs: 30_000,
};
