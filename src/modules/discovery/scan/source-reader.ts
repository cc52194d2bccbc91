import type { Component } from '../model/component.types.js';
import type { ComponentSource, SourceListing } from '../sources/component-source.js';
import { SourceError } from '../model/source.error.js';
import { Deferred } from './deferred.js';
import type { ScanIssue, SourceReadings } from '../model/scan.types.js';

interface ReadLimits {
  timeoutMs: number;
  signal: AbortSignal;
  onInternalError: (error: unknown) => void;
}

/**
 * Asks all sources at once. A source that cannot be read is an issue, and its last components are used instead. So a directory
 * that is down does not make its components disappear.
 */
export class SourceReader {
  private readonly lastKnown = new Map<ComponentSource, readonly Component[]>();

  async read(sources: readonly ComponentSource[], limits: ReadLimits): Promise<SourceReadings> {
    const readings = await Promise.all(sources.map((source) => this.readOne(source, limits)));
    return {
      listings: readings.map(({ source, components }) => ({ source, components })),
      issues: readings.flatMap(({ issues }) => issues),
    };
  }

  private async readOne(
    source: ComponentSource,
    limits: ReadLimits,
  ): Promise<SourceReadings['listings'][number] & { issues: ScanIssue[] }> {
    const { name } = source;
    try {
      const { components, rejected } = source.isEnabled
        ? await inTime(source, limits)
        : { components: [], rejected: [] };
      this.lastKnown.set(source, components);
      const issues = rejected.map((entry): ScanIssue => ({ code: 'rejected', source: name, ...entry }));
      return { source: name, components, issues };
    } catch (error) {
      if (!(error instanceof SourceError)) {
        limits.onInternalError(error);
      }
      const { failure, detail } = error instanceof SourceError ? error : new SourceError(name, 'internal');
      return {
        source: name,
        components: this.lastKnown.get(source) ?? [],
        issues: [{ code: 'source_failed', source: name, failure, detail }],
      };
    }
  }
}

async function inTime(source: ComponentSource, { timeoutMs, signal }: ReadLimits): Promise<SourceListing> {
  const controller = new AbortController();
  const cutShort = new Deferred<never>();
  const onAbort = (): void => {
    controller.abort();
    cutShort.reject(new SourceError(source.name, 'timeout'));
  };
  const timer = setTimeout(onAbort, timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([list(source, controller.signal), cutShort.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** What throws at once rejects, too. */
async function list(source: ComponentSource, signal: AbortSignal): Promise<SourceListing> {
  return source.list(signal);
}
