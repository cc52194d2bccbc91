import { Clock } from '../common/clock.js';

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
