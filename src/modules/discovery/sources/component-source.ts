import type { Component, ComponentSourceName } from '../model/component.types.js';

/** Says which components there are. Called anew for each scan. */
export interface ComponentSource {
  readonly name: ComponentSourceName;
  /** Whether the configuration asks for it; a source that is off is neither asked nor reported. */
  readonly isEnabled: boolean;
  /**
   * @param signal aborted at the deadline of the source; ends every connection of it
   * @throws SourceError when the source cannot be read; that is an issue of the scan, never its failure
   */
  list(signal: AbortSignal): Promise<SourceListing>;
}

/** What a source knows at this moment. */
export interface SourceListing {
  components: Component[];
  /** Entries it had to leave out, by key and reason; each is an issue of the scan. */
  rejected: { key: string; reason: string }[];
}
