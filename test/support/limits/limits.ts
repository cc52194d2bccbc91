import { pageLimits } from '../../../src/platform/validation/page.limits.js';
import { agentLimits } from '../../../src/runtime/calls/agents/agent.limits.js';
import { auditLimits } from '../../../src/audit/audit.limits.js';
import { buildLimits } from '../../../src/delivery/builds/build.limits.js';
import { dataLimits } from '../../../src/platform/validation/data.limits.js';
import { databaseLimits } from '../../../src/store/database.limits.js';
import { definitionLimits } from '#engine/definitions';
import { discoveryLimits } from '../../../src/discovery/discovery.limits.js';
import { gatewayLimits } from '../../../src/gateway/gateway.limits.js';
import { httpLimits } from '../../../src/platform/http.limits.js';
import { jobLimits } from '../../../src/jobs/job.limits.js';
import { mcpCallLimits, mcpLimits } from '../../../src/systems/mcp-connection/mcp.limits.js';
import { modelLimits } from '../../../src/runtime/calls/agents/llm/model.limits.js';
import { outboundLimits } from '../../../src/platform/outbound/outbound.limits.js';
import { packageLimits } from '../../../src/delivery/packages/package.limits.js';
import { processLimits } from '../../../src/runtime/process.limits.js';
import { quotaLimits } from '../../../src/runtime/quotas/quota.limits.js';
import { redisLimits } from '../../../src/platform/redis/redis.limits.js';
import { restLimits } from '../../../src/runtime/calls/rest-endpoints/rest.limits.js';
import { tokenLimits } from '../../../src/platform/auth/token.limits.js';
import { workflowLimits } from '../../../src/runtime/calls/workflows/workflow.limits.js';

import { Env, type Mode } from '../../../src/platform/config/env.js';

type Limits = Record<string, unknown>;

const ALL: Readonly<Record<string, Limits>> = {
  databaseLimits,
  redisLimits,
  tokenLimits,
  gatewayLimits,
  httpLimits,
  outboundLimits,
  mcpLimits,
  mcpCallLimits,
  jobLimits,
  pageLimits,
  packageLimits,
  buildLimits,
  definitionLimits,
  dataLimits,
  processLimits,
  quotaLimits,
  workflowLimits,
  modelLimits,
  agentLimits,
  restLimits,
  auditLimits,
  discoveryLimits,
};
const DEFAULTS = structuredClone(ALL);
/** Limits in all tests. Timeouts are long because tests share the CPU with each other, databases and stub servers. */
const TEST_DEFAULTS = {
  // Test data does not have to survive a crash of the machine.
  'databaseLimits.embeddedSynchronous': 'OFF',
  'tokenLimits.timeoutMs': '60000',
  'outboundLimits.threadNiceness': '0',
  'mcpLimits.testTimeoutMs': '60000',
  'packageLimits.niceness': '0',
  'packageLimits.timeoutMs': '60000',
  'httpLimits.refusalDelayMs': '0',
  'httpLimits.callerRequests': '0',
  'httpLimits.callerAtWork': '0',
  'httpLimits.connectionTestsPerMinute': '0',
  'httpLimits.rescansPerMinute': '0',
};
const NAME = /^(\w+Limits)\.(\w+)$/;

type Settings = Readonly<Record<string, string | undefined>>;
/** Active overrides of the applications in this process; later ones take precedence. */
const overrides = new Set<Settings>();
let envOverrides: Settings = {};

/**
 * Overrides limits of the service in this process, because tests cannot wait for the real ones.
 * @param settings may contain limits, such as `'jobLimits.pollMs': '20'`; other settings are ignored. The service itself
 * does not read limits from its environment; `load-limits.mjs` does this for separate processes.
 * @returns function that removes the overrides
 */
export function overrideLimits(settings: Settings): () => void {
  overrides.add(settings);
  apply();
  return () => {
    overrides.delete(settings);
    apply();
  };
}

/** Parses settings for a single component. Limits among them apply until the next call. */
export function limitedEnv(
  mode: Mode,
  settings: Record<string, string | undefined>,
  defaults?: Record<string, string>,
): Env {
  envOverrides = settings;
  apply();
  return Env.parse(mode, settings, defaults);
}

/** Resets all limits at the end of a test file. */
export function releaseLimits(): void {
  overrides.clear();
  envOverrides = {};
  apply();
}

function apply(): void {
  for (const [group, limits] of Object.entries(ALL)) {
    Object.assign(limits, DEFAULTS[group]);
  }
  [TEST_DEFAULTS, envOverrides, ...overrides].forEach(set);
}

function set(settings: Settings): void {
  for (const [name, text] of Object.entries(settings)) {
    const [, group = '', limit = ''] = NAME.exec(name) ?? [];
    if (group !== '' && text !== undefined) {
      const limits = ALL[group];
      if (limits === undefined || !(limit in limits)) {
        throw new Error(`Unknown limit "${name}".`);
      }
      limits[limit] = parse(text, DEFAULTS[group]?.[limit]);
    }
  }
}

function parse(text: string, defaultValue: unknown): unknown {
  switch (typeof defaultValue) {
    case 'number':
      return Number(text);
    case 'boolean':
      return text === 'true';
    case 'string':
      return text;
    default:
      return text.split(',');
  }
}
