import { z } from 'zod';
import { Clock } from '../platform/clock.js';
import { EnvError, type Env } from '../platform/config/env.js';

const UTC = z.iso.datetime();

/**
 * The date and time of EVALUATION_CLOCK, at which the clock stands until a test moves it; undefined without it.
 * @throws EnvError
 */
export function clockStart(env: Env): Date | undefined {
  const text = env.variable('EVALUATION_CLOCK');
  if (text !== undefined && !UTC.safeParse(text).success) {
    throw new EnvError(['EVALUATION_CLOCK must be a date and time in UTC, such as 2030-01-31T08:00:00Z']);
  }
  return text === undefined ? undefined : new Date(text);
}

/** Stands still until it is moved, and never goes back. For tests of applications: timers fire when the test says so. */
export class StillClock extends Clock {
  private at: number;

  constructor(start: Date) {
    super();
    this.at = start.getTime();
  }

  override now(): Date {
    return new Date(this.at);
  }

  /** An earlier time changes nothing. */
  moveTo(time: Date): void {
    this.at = Math.max(this.at, time.getTime());
  }
}
