/**
 * Parses JSON that a person typed.
 * @returns undefined for text that is no JSON, or that has an integer beyond 2^53 - 1, which would be rounded without a word
 */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text, refuseRounded) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * For `JSON.parse`. Browsers that do not give the source of a number show only integers of up to 21 digits.
 * @throws RangeError for an integer that would be rounded
 */
export function refuseRounded(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value === 'number' && isRounded(context?.source ?? String(value))) {
    throw new RangeError('it has an integer beyond 2^53 - 1; write it in quotes');
  }
  return value;
}

/** Whether a number is an integer as it is written, and too large to be kept exactly. */
export function isRounded(written: string): boolean {
  return /^[+-]?\d+$/.test(written) && !Number.isSafeInteger(Number(written));
}

/** Whether a value is a JSON object, so neither null nor a list nor a scalar. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
