import { describe, expect, it } from 'vitest';
import { Env } from '../platform/config/env.js';
import { clockStart } from './still-clock.js';

describe('clockStart', () => {
  const startOf = (value?: string) => clockStart(Env.parse('evaluation', { EVALUATION_CLOCK: value }));

  it('returns the time of EVALUATION_CLOCK', () => {
    expect(startOf()).toBeUndefined();
    expect(startOf('2030-01-01T08:00:00Z')).toEqual(new Date('2030-01-01T08:00:00Z'));
  });

  it('rejects anything else without repeating it', () => {
    expect(() => startOf('hush')).toThrow(/EVALUATION_CLOCK must be a date and time in UTC, such as \S+$/);
  });
});
