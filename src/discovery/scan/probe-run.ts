import { Deadline } from '../../platform/concurrency/deadline.js';
import type { Component } from '../model/component.types.js';
import { ProbeError, type ProbeFailure } from '../model/failures.js';
import type { Probe, ProbeWarning } from '../model/probe.js';
import type { ProbeOutcome } from '../model/scan.types.js';

/** Limits of one check. */
interface ProbeLimits {
  /** Milliseconds to the hard deadline. */
  timeoutMs: number;
  /** Aborted when the scan ends before the check does. */
  signal: AbortSignal;
  /** The time, in milliseconds since the epoch. */
  now: () => number;
  /** Told of errors that a probe should not have thrown. */
  onInternalError: (error: unknown) => void;
}

/** Checks one component. Ends at the deadline; what comes later is dropped. Never rejects. */
export async function runProbe(
  component: Component,
  probe: Probe,
  limits: ProbeLimits,
): Promise<ProbeOutcome> {
  const { timeoutMs, signal: scan } = limits;
  if (scan.aborted) {
    return unhealthy('deadline');
  }
  const time = new Deadline(scan, timeoutMs, () => new ProbeError('timeout'));
  const { signal } = time;
  const cutShort = new Promise<ProbeOutcome>((resolve) => {
    const cut = (): void => resolve(unhealthy(scan.aborted ? 'deadline' : 'timeout'));
    signal.addEventListener('abort', cut, { once: true });
  });
  const ending = new ProbeEnding();
  try {
    return await Promise.race([attempt(component, probe, { ...limits, signal }, ending), cutShort]);
  } finally {
    time.clear();
    if (signal.aborted) {
      ending.end();
    } else {
      // Closing takes as long as the rest of a check: whoever waits for this one begins the next one before.
      setImmediate(() => ending.end());
    }
  }
}

/** What must happen when a check is over, however it ended. */
class ProbeEnding {
  private readonly destroyers: (() => void)[] = [];
  private isOver = false;

  /** A connection that is opened when all is over is closed at once. */
  add(destroy: () => void): void {
    this.destroyers.push(destroy);
    if (this.isOver) {
      this.end();
    }
  }

  /** The last one first: a client without its socket closes without errors of its own. */
  end(): void {
    this.isOver = true;
    this.destroyers.splice(0).toReversed().forEach(quietly);
  }
}

/** @param limits with the signal of this check */
async function attempt(
  component: Component,
  probe: Probe,
  { timeoutMs, signal, now, onInternalError }: ProbeLimits,
  ending: ProbeEnding,
): Promise<ProbeOutcome> {
  const warnings = new Map<string, ProbeWarning>();
  const warn = (warning: ProbeWarning): void => void warnings.set(warning.code, warning);
  const onEnd = (destroy: () => void): void => ending.add(destroy);
  try {
    const finding = await probe(component, { signal, timeoutMs, now, warn, onEnd });
    return { status: 'healthy', finding: { ...finding, warnings: [...warnings.values()] } };
  } catch (error) {
    if (error instanceof ProbeError) {
      return unhealthy(error.failure, error.detail);
    }
    // An error that a probe throws because its time is over is no fault, and nobody waits for it.
    if (!signal.aborted) {
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
