import { setMaxListeners } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { Deadline } from '../../../common/deadline.js';
import { InternalError } from '../../../common/errors/domain.error.js';
import { Log } from '../../../common/logging/log.js';
import type { Component } from '../model/component.types.js';
import { PROBES } from '../probes/kinds/probe-registry.js';
import type { Probe } from '../model/probe.js';
import type { ComponentSource } from '../sources/component-source.js';
import { mergeListings } from '../findings/merge.js';
import { SOURCES } from '../sources/sources.js';
import { inParallel } from '../../../common/in-parallel.js';
import { runProbe } from './probe-run.js';
import type { CheckedComponent, ProbeOutcome, ScanFindings } from '../model/scan.types.js';
import { SourceReader } from './source-reader.js';
import { discoveryLimits } from '../discovery.limits.js';

/** The scan was told to end before it was complete: the service stops. */
export class ScanStoppedError extends InternalError {
  readonly code = 'DISCOVERY_STOPPED';
  constructor() {
    super('The scan ended because the service stops.');
  }
}

/**
 * Looks at everything once: asks the sources, then checks `concurrency` components at a time, each with a hard
 * deadline. It takes ceil(components / `concurrency`) times the longest deadline at most, and no longer than
 * `scanTimeoutMs`. Mistakes of components and sources are part of the result.
 */
@Injectable()
export class ScanEngine {
  private readonly reader = new SourceReader();

  constructor(
    @Inject(SOURCES) private readonly sources: readonly ComponentSource[],
    @Inject(PROBES) private readonly probes: readonly Probe[],
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * @param stop aborted when the service stops
   * @throws ScanStoppedError
   */
  async scan(stop: AbortSignal): Promise<ScanFindings> {
    const startedAt = this.clock.now();
    const start = performance.now();
    const readings = await this.reader.read(this.sources, {
      timeoutMs: discoveryLimits.sourceTimeoutMs,
      signal: stop,
      onInternalError: (error) => this.log.error('a source of components failed', error),
    });
    const merged = mergeListings(readings.listings, discoveryLimits.components);
    const components = await this.check(merged.components, stop);
    if (stop.aborted) {
      throw new ScanStoppedError();
    }
    return {
      startedAt,
      finishedAt: latest([this.clock.now(), ...components.map(({ checkedAt }) => checkedAt)]),
      durationMs: performance.now() - start,
      components,
      issues: [...readings.issues, ...merged.issues],
    };
  }

  private async check(components: Component[], stop: AbortSignal): Promise<CheckedComponent[]> {
    const probes = new Map(this.probes.map((probe) => [probe.kind, probe]));
    const limitMs = discoveryLimits.scanTimeoutMs;
    const scan = new Deadline(stop, limitMs, () => new Error('deadline'));
    // Every running probe listens; that is no leak.
    setMaxListeners(0, scan.signal);
    try {
      return await inParallel(components, discoveryLimits.concurrency, (component) =>
        this.checkOne(component, probes.get(component.kind), scan.signal),
      );
    } finally {
      scan.clear();
    }
  }

  private async checkOne(
    component: Component,
    probe: Probe | undefined,
    signal: AbortSignal,
  ): Promise<CheckedComponent> {
    const timeoutMs = component.timeoutMs ?? discoveryLimits.probeTimeoutMs;
    const start = performance.now();
    const outcome: ProbeOutcome =
      probe === undefined
        ? { status: 'unhealthy', failure: 'configuration', detail: null }
        : await runProbe(component, probe, {
            timeoutMs,
            signal,
            onInternalError: (error) =>
              this.log.error('a check of a component failed', error, { kind: component.kind }),
          });
    return {
      component,
      outcome,
      checkedAt: this.clock.now(),
      tookMs: performance.now() - start,
      timeoutMs,
    };
  }
}

function latest(times: Date[]): Date {
  return times.reduce((one, other) => (one < other ? other : one));
}
