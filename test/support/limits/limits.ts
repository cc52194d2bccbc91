import { pageLimits } from '../../../src/platform/validation/page.limits.js';
import { agentLimits } from '../../../src/runtime/calls/agents/agent.limits.js';
import { auditLimits } from '../../../src/audit/audit.limits.js';
import { buildLimits } from '../../../src/delivery/builds/build.limits.js';
import { dataLimits } from '../../../src/platform/validation/data.limits.js';
import { databaseLimits } from '../../../src/store/database.limits.js';
import { definitionLimits } from '#engine/definitions';
import { discoveryLimits } from '../../../src/discovery/discovery.limits.js';
import { httpLimits } from '../../../src/platform/http/http.limits.js';
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
/** Tests share the processor with each other and with databases; an issuer in this very process answers when the process has time. */
const OF_TESTS = {
  // Nothing here outlives its machine.
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
/** What applications of this process run with, the newest last. */
const held = new Set<Settings>();
let ofPart: Settings = {};

/**
 * Sets limits of the service in this process, since tests have no time for real ones. They stand among settings, as
 * `'jobLimits.pollMs': '20'`; the service itself reads them from nowhere. Processes of their own get them by `of-process.mjs`.
 * @returns takes them back
 */
export function holdLimits(settings: Settings): () => void {
  held.add(settings);
  apply();
  return () => {
    held.delete(settings);
    apply();
  };
}

/** Settings of a part of the service, with the limits that stand among them until the next part has others. */
export function limitedEnv(
  mode: Mode,
  settings: Record<string, string | undefined>,
  defaults?: Record<string, string>,
): Env {
  ofPart = settings;
  apply();
  return Env.parse(mode, settings, defaults);
}

/** At the end of a test file. */
export function releaseLimits(): void {
  held.clear();
  ofPart = {};
  apply();
}

function apply(): void {
  for (const [of, limits] of Object.entries(ALL)) {
    Object.assign(limits, DEFAULTS[of]);
  }
  [OF_TESTS, ofPart, ...held].forEach(set);
}

function set(settings: Settings): void {
  for (const [name, text] of Object.entries(settings)) {
    const [, of = '', limit = ''] = NAME.exec(name) ?? [];
    if (of !== '' && text !== undefined) {
      const limits = ALL[of];
      if (limits === undefined || !(limit in limits)) {
        throw new Error(`there is no limit ${name}`);
      }
      limits[limit] = read(text, DEFAULTS[of]?.[limit]);
    }
  }
}

function read(text: string, like: unknown): unknown {
  switch (typeof like) {
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
