import { z } from 'zod';
import { Clock } from '../platform/clock.js';
import { EnvError, type Env } from '../platform/config/env.js';

const UTC = z.iso.datetime();

/**
 * Returns the date and time of EVALUATION_CLOCK, at which the clock stays until a test moves it; undefined if not set.
 * @throws EnvError
 */
export function clockStart(env: Env): Date | undefined {
  const text = env.variable('EVALUATION_CLOCK');
  if (text !== undefined && !UTC.safeParse(text).success) {
    throw new EnvError(['EVALUATION_CLOCK must be a date and time in UTC, such as 2030-01-31T08:00:00Z']);
  }
  return text === undefined ? undefined : new Date(text);
}

/** A clock that stands still until it is moved, and never goes back. In tests of applications, timers fire when the test moves it. */
export class StillClock extends Clock {
  private at: number;

  constructor(start: Date) {
    super();
    this.at = start.getTime();
  }

  override now(): Date {
    return new Date(this.at);
  }

  /** Moves the clock; ignores earlier times. */
  moveTo(time: Date): void {
    this.at = Math.max(this.at, time.getTime());
  }
}
