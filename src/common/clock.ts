import { Injectable } from '@nestjs/common';

/** The time of day, injected so that tests can set it. */
@Injectable()
export class Clock {
  /** The current time, whole milliseconds. */
  now(): Date {
    return new Date();
  }
}
