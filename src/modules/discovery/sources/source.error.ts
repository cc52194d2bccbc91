import type { ComponentSourceName } from '../component.types.js';
import { PROBE_FAILURES, type ProbeFailure } from '../probes/probe.error.js';

/** A source of components that could not be read. Its message is one of a fixed list and safe to show. */
export class SourceError extends Error {
  constructor(
    readonly source: ComponentSourceName,
    readonly failure: ProbeFailure,
  ) {
    super(PROBE_FAILURES[failure]);
  }
}
