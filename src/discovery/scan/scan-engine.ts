import { setMaxListeners } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Deadline } from '../../platform/concurrency/deadline.js';
import { Log } from '../../platform/observability/logging/log.js';
import type { Component } from '../model/component.types.js';
import { Probes } from '../probes/kinds/probes.js';
import type { ComponentSource, SourceListing } from '../sources/listing.js';
import { type Listed, mergeListings } from '../findings/merge.js';
import { SOURCES } from '../sources/sources.js';
import { inParallel } from '../../platform/concurrency/in-parallel.js';
import { runProbe } from './probe-run.js';
import type { CheckedComponent, ScanFindings, ScanIssue } from '../model/scan.types.js';
import { discoveryLimits } from '../discovery.limits.js';
import { ScanFailedError, SourceError } from '../model/failures.js';

/**
 * Runs one scan: lists the components of all sources, then checks up to `concurrency` of them concurrently, within `scanTimeoutMs`.
 * Failures of components and sources are part of the result.
 */
@Injectable()
export class ScanEngine {
  /** Last known components by source, used when the source cannot be read, which is also an issue. */
  private readonly lastKnown = new Map<ComponentSource, readonly Component[]>();

  constructor(
    @Inject(SOURCES) private readonly sources: readonly ComponentSource[],
    private readonly probes: Probes,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** @param stop aborted when the service stops @throws ScanFailedError then */
  async scan(stop: AbortSignal): Promise<ScanFindings> {
    const startedAt = this.clock.now();
    const start = performance.now();
    const readings = await Promise.all(this.sources.map((source) => this.read(source, stop)));
    const merged = mergeListings(readings, discoveryLimits.components);
    const components = await this.check(merged.components, stop);
    if (stop.aborted) {
      throw new ScanFailedError('DISCOVERY_STOPPED');
    }
    const checks = components.map(({ checkedAt }) => checkedAt.getTime());
    return {
      startedAt,
      finishedAt: new Date(Math.max(this.clock.now().getTime(), ...checks)),
      durationMs: performance.now() - start,
      components,
      issues: [...readings.flatMap(({ issues }) => issues), ...merged.issues],
    };
  }

  private async read(source: ComponentSource, stop: AbortSignal): Promise<Listed & { issues: ScanIssue[] }> {
    const { name } = source;
    try {
      const { components, rejected } = await inTime(source, stop);
      this.lastKnown.set(source, components);
      const issues = rejected.map((entry): ScanIssue => ({ code: 'rejected', source: name, ...entry }));
      return { source: name, components, issues };
    } catch (error) {
      if (!(error instanceof SourceError)) {
        this.log.error('a source of components failed', error);
      }
      const { failure, detail } = error instanceof SourceError ? error : new SourceError('internal');
      const components = this.lastKnown.get(source) ?? [];
      return { source: name, components, issues: [{ code: 'source_failed', source: name, failure, detail }] };
    }
  }

  private async check(components: Component[], stop: AbortSignal): Promise<CheckedComponent[]> {
    const scan = new Deadline(stop, discoveryLimits.scanTimeoutMs, () => new Error('deadline'));
    // Every running probe adds a listener, which is not a leak.
    setMaxListeners(0, scan.signal);
    try {
      return await inParallel(components, discoveryLimits.concurrency, (component) =>
        this.checkOne(component, scan.signal),
      );
    } finally {
      scan.clear();
    }
  }

  private async checkOne(component: Component, signal: AbortSignal): Promise<CheckedComponent> {
    const timeoutMs = component.timeoutMs ?? discoveryLimits.probeTimeoutMs;
    const start = performance.now();
    const outcome = await runProbe(component, (...args) => this.probes.run(...args), {
      timeoutMs,
      signal,
      now: () => this.clock.now().getTime(),
      onInternalError: (error) =>
        this.log.error('a check of a component failed', error, { kind: component.kind }),
    });
    const tookMs = performance.now() - start;
    return { component, outcome, checkedAt: this.clock.now(), tookMs, timeoutMs };
  }
}

const late = (): Error => new SourceError('timeout');

async function inTime(source: ComponentSource, stop: AbortSignal): Promise<SourceListing> {
  const time = new Deadline(stop, discoveryLimits.sourceTimeoutMs, late);
  const cutShort = new Promise<never>((_resolve, reject) => {
    time.signal.addEventListener('abort', () => reject(late()), { once: true });
  });
  try {
    return await Promise.race([source.list(time.signal), cutShort]);
  } finally {
    time.clear();
  }
}
