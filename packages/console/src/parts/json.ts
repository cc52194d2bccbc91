/**
 * Parses JSON typed by a user.
 * @returns undefined for invalid JSON, and for integers beyond 2^53 - 1, which would be rounded silently
 */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text, refuseRounded) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Reviver for `JSON.parse`. In browsers without source text access, only integers of up to 21 digits are detected.
 * @throws RangeError for an integer that would be rounded
 */
export function refuseRounded(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value === 'number' && isRounded(context?.source ?? String(value))) {
    throw new RangeError('integers beyond 2^53 - 1 must be in quotes');
  }
  return value;
}

/** Whether text is an integer that a number cannot represent exactly. */
export function isRounded(written: string): boolean {
  return /^[+-]?\d+$/.test(written) && !Number.isSafeInteger(Number(written));
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
