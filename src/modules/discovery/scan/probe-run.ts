import type { Component } from '../model/component.types.js';
import { ProbeError, type ProbeFailure } from '../model/probe.error.js';
import type { Probe, ProbeContext } from '../model/probe.js';
import { Deferred } from './deferred.js';
import type { ProbeOutcome } from '../model/scan.types.js';

/** Limits of one check. */
export interface ProbeLimits {
  /** Milliseconds to the hard deadline. */
  timeoutMs: number;
  /** Aborted when the scan ends before the check does. */
  signal: AbortSignal;
  /** Told of errors that a probe should not have thrown. */
  onInternalError: (error: unknown) => void;
}

/**
 * Checks one component. Ends at the deadline, whatever the probe does. Its `onEnd` calls run then, and a later answer or error
 * is dropped.
 * @returns never rejects
 */
export async function runProbe(
  component: Component,
  probe: Probe,
  limits: ProbeLimits,
): Promise<ProbeOutcome> {
  const { timeoutMs, signal } = limits;
  if (signal.aborted) {
    return unhealthy('deadline');
  }
  const ending = new ProbeEnding();
  const cutShort = new Deferred<ProbeOutcome>();
  const cut = (failure: ProbeFailure): void => {
    cutShort.resolve(unhealthy(failure));
    ending.abort();
  };
  const timer = setTimeout(() => cut('timeout'), timeoutMs);
  const onAbort = (): void => cut('deadline');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([attempt(component, probe, limits, ending), cutShort.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    if (ending.signal.aborted) {
      ending.end();
    } else {
      // Closing takes as long as the rest of a check: whoever waits for this one begins the next one before.
      setImmediate(() => ending.end());
    }
  }
}

/** What must happen when a check is over, however it ended. */
class ProbeEnding {
  private readonly controller = new AbortController();
  private readonly destroyers: (() => void)[] = [];
  private isOver = false;

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** A connection that is opened when all is over is closed at once. */
  add(destroy: () => void): void {
    if (this.isOver) {
      quietly(destroy);
    } else {
      this.destroyers.push(destroy);
    }
  }

  abort(): void {
    this.controller.abort();
  }

  end(): void {
    this.isOver = true;
    // The last one first: a client without its socket closes without errors of its own.
    this.destroyers.splice(0).toReversed().forEach(quietly);
  }
}

async function attempt(
  component: Component,
  probe: Probe,
  { timeoutMs, onInternalError }: ProbeLimits,
  ending: ProbeEnding,
): Promise<ProbeOutcome> {
  const context: ProbeContext = {
    signal: ending.signal,
    timeoutMs,
    onEnd: (destroy) => ending.add(destroy),
  };
  try {
    return { status: 'healthy', finding: await probe.run(component, context) };
  } catch (error) {
    if (error instanceof ProbeError) {
      return unhealthy(error.failure, error.detail);
    }
    // An error that a probe throws because its time is over is no fault, and nobody waits for it.
    if (!ending.signal.aborted) {
      onInternalError(error);
    }
    return unhealthy('internal');
  }
}

function unhealthy(failure: ProbeFailure, detail: string | null = null): ProbeOutcome {
  return { status: 'unhealthy', failure, detail };
}

/** One connection that cannot be closed must not keep the others open. */
function quietly(destroy: () => void): void {
  try {
    destroy();
  } catch {
    // Nobody is left who could be told.
  }
}
