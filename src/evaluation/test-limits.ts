import { httpLimits } from '../platform/http.limits.js';
import { outboundLimits } from '../platform/outbound/outbound.limits.js';
import { modelLimits } from '../runtime/calls/agents/llm/model.limits.js';
import { jobLimits } from '../jobs/job.limits.js';
import { mcpCallLimits, mcpLimits } from '../systems/mcp-connection/mcp.limits.js';
import { packageLimits } from '../delivery/packages/package.limits.js';
import { processLimits } from '../runtime/process.limits.js';
import { restLimits } from '../runtime/calls/rest-endpoints/rest.limits.js';

const PATIENCE_MS = 60_000;
const DAY_SECONDS = 86_400;

/** Sets limits for tests of applications: fast retries, no throttling, and long timeouts for busy machines. */
export function useTestLimits(): void {
  Object.assign(jobLimits, { retryBaseMs: 1, retryMaxMs: 20 });
  Object.assign(restLimits, { retryDelayMs: 1, timeoutMs: PATIENCE_MS });
  Object.assign(modelLimits, { retryBaseMs: 1, retryMaxMs: 20 });
  Object.assign(httpLimits, { refusalDelayMs: 0, connectionTestsPerMinute: 0, rescansPerMinute: 0 });
  Object.assign(outboundLimits, { threadNiceness: 0, connectTimeoutMs: PATIENCE_MS });
  Object.assign(packageLimits, { niceness: 0, timeoutMs: PATIENCE_MS });
  mcpLimits.testTimeoutMs = PATIENCE_MS;
  mcpCallLimits.defaultTimeoutMs = PATIENCE_MS;
  processLimits.cleanupSeconds = DAY_SECONDS;
}
