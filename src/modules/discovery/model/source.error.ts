import type { ComponentSourceName } from './component.types.js';
import { PROBE_FAILURES } from './probe.error.js';

/** Why a source could not be read, as a short sentence: the causes of probes, and those that only a source has. */
export const SOURCE_FAILURES = {
  ...PROBE_FAILURES,
  configuration: 'The configuration of the source is incomplete or wrong.',
  internal: 'The source could not be read because of a fault inside the service.',
  unreadable: 'The file cannot be read.',
  syntax: 'The file is neither valid JSON nor valid YAML.',
} as const;

/** One cause of {@link SOURCE_FAILURES}. */
export type SourceFailure = keyof typeof SOURCE_FAILURES;

/** A source of components that could not be read. Its message is one of a fixed list and safe to show. */
export class SourceError extends Error {
  /** @param detail where the mistake is, such as `line 3, column 7`; safe to show, never a value */
  constructor(
    readonly source: ComponentSourceName,
    readonly failure: SourceFailure,
    readonly detail: string | null = null,
  ) {
    super(SOURCE_FAILURES[failure]);
  }
}
