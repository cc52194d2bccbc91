import { ProbeError } from '../../model/probe.error.js';

/** Whether a value of JSON is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member that must be a whole number from 0; drivers and monitoring pages also give numbers as text. */
export function wholeNumber(value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'bigint') {
    return wholeNumber(Number(number));
  }
  if (typeof number !== 'number' || !Number.isSafeInteger(Math.trunc(number)) || number < 0) {
    throw new ProbeError('protocol');
  }
  return Math.trunc(number);
}

/** A value that must be a list of objects. */
export function records(value: unknown): Record<string, unknown>[] {
  if (!Array.isArray(value) || !value.every(isRecord)) {
    throw new ProbeError('protocol');
  }
  return value;
}
