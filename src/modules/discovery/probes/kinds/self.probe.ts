import { Injectable } from '@nestjs/common';
import type { Probe, ProbeFinding } from '../../model/probe.js';

/** This service itself: whoever can ask it is answered by it. */
@Injectable()
export class SelfProbe implements Probe {
  readonly kind = 'self';

  async run(): Promise<ProbeFinding> {
    return {};
  }
}
