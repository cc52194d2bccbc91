import { Injectable } from '@nestjs/common';
import { IncidentPlaces } from './incident-places.js';
import { TimerOutbox } from './timer-outbox.js';

/** What transactions and earlier releases have left to be done, which is looked for from time to time. */
@Injectable()
export class LeftBehind {
  constructor(
    private readonly outbox: TimerOutbox,
    private readonly places: IncidentPlaces,
  ) {}

  /** Does it, until the signal is aborted. */
  async bring(signal: AbortSignal): Promise<void> {
    await this.outbox.bring();
    await this.places.fill(signal);
  }
}
