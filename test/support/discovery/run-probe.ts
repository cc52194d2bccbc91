import { Env } from '../../../src/platform/config/env.js';
import {
  type Component,
  type ComponentKind,
  componentOf,
} from '../../../src/discovery/model/component.types.js';
import { ProbeClients } from '../../../src/discovery/probes/http/probe-clients.js';
import { Probes } from '../../../src/discovery/probes/kinds/probes.js';
import { ProbeError, type ProbeFailure } from '../../../src/discovery/model/failures.js';
import type { ProbeFinding } from '../../../src/discovery/model/probe.js';
import { runProbe as runInScan } from '../../../src/discovery/scan/probe-run.js';
import type { McpConnectionService } from '../../../src/systems/mcp-connection/mcp-connection.service.js';

/** Timeout of a probe in tests whose component answers. */
const PATIENT_MS = 10_000;

/**
 * Returns the probes of a service that may call loopback, as in evaluation mode.
 * @param connections for MCP servers that callers named
 */
export function probesWith(connections?: McpConnectionService): Probes {
  return new Probes(new ProbeClients(Env.parse('evaluation', {}), connections as McpConnectionService));
}

const DEFAULT_PROBES = probesWith();

/** Returns a component that an operator configured without credentials. */
export function component(
  kind: ComponentKind,
  endpoint: string,
  overrides: Partial<Component> = {},
): Component {
  const named = { key: 'component', name: 'Component', source: 'configuration', trust: 'operator' } as const;
  return componentOf(kind, { ...named, endpoint, ...overrides });
}

/** Options for running a probe in a test. */
interface ProbeRun {
  timeoutMs?: number;
  now?: () => number;
  probes?: Probes;
}

/**
 * Runs the probe of a component as a scan does: with a deadline, and closing everything that the probe opened.
 * @throws ProbeError when the component is unhealthy, or any unexpected error of the probe
 */
export async function runProbe(
  target: Component,
  { timeoutMs = PATIENT_MS, now = Date.now, probes = DEFAULT_PROBES }: ProbeRun = {},
): Promise<ProbeFinding> {
  let defect: unknown;
  const outcome = await runInScan(target, (...args) => probes.run(...args), {
    timeoutMs,
    now,
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

/**
 * Returns the failure that the probe of an unhealthy component reports.
 * @throws Error when the component is healthy, or any error other than ProbeError
 */
export async function failureOf(target: Component, run?: ProbeRun): Promise<ProbeFailure> {
  let finding: ProbeFinding;
  try {
    finding = await runProbe(target, run);
  } catch (error) {
    if (error instanceof ProbeError) {
      return error.failure;
    }
    throw error;
  }
  throw new Error(`The component is healthy: ${JSON.stringify(finding)}`);
}
