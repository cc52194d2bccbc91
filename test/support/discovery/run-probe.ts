import { Clock } from '../../../src/common/clock.js';
import { Env } from '../../../src/config/env.js';
import {
  COMPONENT_KINDS,
  type Component,
  type ComponentKind,
} from '../../../src/modules/discovery/model/component.types.js';
import { ProbeHttpClient } from '../../../src/modules/discovery/probes/http/probe-http.client.js';
import { ProbeError, type ProbeFailure } from '../../../src/modules/discovery/model/failures.js';
import type { Probe, ProbeFinding } from '../../../src/modules/discovery/model/probe.js';
import { runProbe as runInScan } from '../../../src/modules/discovery/scan/probe-run.js';

/** How long a probe may take in tests whose component answers. */
const PATIENT_MS = 10_000;

/** Settings of a service that may call loopback, as in evaluation. */
export function probeEnv(settings: Record<string, string> = {}): Env {
  return Env.parse('evaluation', settings);
}

/** The HTTP client of the probes with these settings. */
export function probeHttp(settings: Record<string, string> = {}, clock = new Clock()): ProbeHttpClient {
  return new ProbeHttpClient(probeEnv(settings), clock);
}

/** A component of the operator without credentials. */
export function component(
  kind: ComponentKind,
  endpoint: string,
  overrides: Partial<Component> = {},
): Component {
  return {
    key: 'component',
    map: COMPONENT_KINDS[kind],
    kind,
    name: 'Component',
    isNamed: true,
    endpoint,
    options: {},
    credentials: null,
    source: 'configuration',
    tags: [],
    version: null,
    capabilities: [],
    timeoutMs: null,
    trust: 'operator',
    ...overrides,
  };
}

/**
 * Runs a probe as a scan does: with its deadline, and with what it opened destroyed at the end.
 * @throws ProbeError when the component is unhealthy, and what a probe should not have thrown
 */
export async function runProbe(
  probe: Probe,
  target: Component,
  timeoutMs = PATIENT_MS,
): Promise<ProbeFinding> {
  let defect: unknown;
  const outcome = await runInScan(target, probe, {
    timeoutMs,
    signal: new AbortController().signal,
    onInternalError: (error) => {
      defect = error;
    },
  });
  if (defect !== undefined) {
    throw defect as Error;
  }
  if (outcome.status === 'unhealthy') {
    throw new ProbeError(outcome.failure, outcome.detail);
  }
  return outcome.finding;
}

/** The failure of a probe of an unhealthy component. @throws Error when it is healthy, and errors that are no ProbeError */
export async function failureOf(probe: Probe, target: Component, timeoutMs?: number): Promise<ProbeFailure> {
  let finding: ProbeFinding;
  try {
    finding = await runProbe(probe, target, timeoutMs);
  } catch (error) {
    if (error instanceof ProbeError) {
      return error.failure;
    }
    throw error;
  }
  throw new Error(`healthy: ${JSON.stringify(finding)}`);
}
