import { Deadline } from '../../platform/concurrency/deadline.js';
import type { Component } from '../model/component.types.js';
import { ProbeError, type ProbeFailure } from '../model/failures.js';
import type { Probe, ProbeWarning } from '../model/probe.js';
import type { ProbeOutcome } from '../model/scan.types.js';

/** Timeout, signal, clock and error callback of a check. */
interface CheckContext {
  /** Timeout in milliseconds. */
  timeoutMs: number;
  /** Aborted when the scan ends before the check does. */
  signal: AbortSignal;
  /** The time, in milliseconds since the epoch. */
  now: () => number;
  /** Called with errors that a probe should not have thrown. */
  onInternalError: (error: unknown) => void;
}

/** Checks a component. Ends at the deadline and ignores later results. Never rejects. */
export async function runProbe(
  component: Component,
  probe: Probe,
  context: CheckContext,
): Promise<ProbeOutcome> {
  const { timeoutMs, signal: scan } = context;
  // The failure is 'deadline' when the scan ended, and 'timeout' when this check took too long.
  if (scan.aborted) {
    return unhealthy('deadline');
  }
  const timeout = new Deadline(scan, timeoutMs, () => new ProbeError('timeout'));
  const { signal } = timeout;
  const cutShort = new Promise<ProbeOutcome>((resolve) => {
    const cut = (): void => resolve(unhealthy(scan.aborted ? 'deadline' : 'timeout'));
    signal.addEventListener('abort', cut, { once: true });
  });
  const cleanups = new Cleanups();
  try {
    return await Promise.race([attempt(component, probe, { ...context, signal }, cleanups), cutShort]);
  } finally {
    timeout.clear();
    if (signal.aborted) {
      cleanups.run();
    } else {
      // Closing takes as long as the check itself, so let the caller start the next check first.
      setImmediate(() => cleanups.run());
    }
  }
}

/** Cleanup functions that run when a check ends, however it ends. */
class Cleanups {
  private readonly destroyers: (() => void)[] = [];
  private isOver = false;

  /** Adds a cleanup function; runs it immediately if the check has ended. */
  add(destroy: () => void): void {
    this.destroyers.push(destroy);
    if (this.isOver) {
      this.run();
    }
  }

  /** Runs all in reverse order: a client without its socket closes without errors. */
  run(): void {
    this.isOver = true;
    this.destroyers.splice(0).toReversed().forEach(ignoringErrors);
  }
}

async function attempt(
  component: Component,
  probe: Probe,
  { timeoutMs, signal, now, onInternalError }: CheckContext,
  cleanups: Cleanups,
): Promise<ProbeOutcome> {
  const warnings = new Map<string, ProbeWarning>();
  const warn = (warning: ProbeWarning): void => void warnings.set(warning.code, warning);
  const onEnd = (destroy: () => void): void => cleanups.add(destroy);
  try {
    const finding = await probe(component, { signal, timeoutMs, now, warn, onEnd });
    return { status: 'healthy', finding: { ...finding, warnings: [...warnings.values()] } };
  } catch (error) {
    if (error instanceof ProbeError) {
      return unhealthy(error.failure, error.detail);
    }
    // An error after the deadline is expected, and its result is ignored.
    if (!signal.aborted) {
      onInternalError(error);
    }
    return unhealthy('internal');
  }
}

function unhealthy(failure: ProbeFailure, detail: string | null = null): ProbeOutcome {
  return { status: 'unhealthy', failure, detail };
}

/** Calls a cleanup function and ignores errors, so that the others still run. */
function ignoringErrors(destroy: () => void): void {
  try {
    destroy();
  } catch {
    // Nothing can be done about it.
  }
}
