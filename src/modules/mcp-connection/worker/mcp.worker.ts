import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import { preloadSchemas } from '@modelcontextprotocol/client';

import { AddressPolicy } from '../../../common/outbound/address-policy.js';
import { HeavySeats } from '../../../common/outbound/heavy-seats.js';
import { OutboundClient } from '../../../common/outbound/outbound.client.js';
import { ConnectionTester } from './connection-tester.js';
import type { McpWorkerAnswer, McpWorkerJob, McpWorkerSettings } from './mcp-worker.messages.js';
import { OAuthTokenClient } from './oauth-token.client.js';

/** Large answers in memory at once, and how long one is safe while others wait. */
const HEAVY_SEATS = 4;
const HEAVY_LEASE_MS = 2_000;

function createTester(settings: McpWorkerSettings): ConnectionTester {
  const outbound = new OutboundClient({
    policy: new AddressPolicy(settings.policy),
    maxRedirects: settings.maxRedirects,
    connectTimeoutMs: settings.connectTimeoutMs,
    seats: new HeavySeats(HEAVY_SEATS, HEAVY_LEASE_MS),
  });
  const tokens = new OAuthTokenClient(outbound, {
    deadlineMs: settings.tokenTimeoutMs,
    maxResponseBytes: settings.tokenMaxBytes,
    maxTotalBytes: settings.tokenMaxBytes * 4,
  });
  const { maxResponseBytes, maxTotalBytes, toolList } = settings;
  return new ConnectionTester({
    outbound,
    tokens,
    operationLimits: { maxResponseBytes, maxTotalBytes },
    toolListLimits: toolList,
  });
}

async function answer(
  tester: ConnectionTester,
  { id, request, deadlineAt }: McpWorkerJob,
  port: MessagePort,
) {
  const result = await tester.test(request, Math.max(1, deadlineAt - Date.now()));
  if (result.outcome !== 'connected') {
    port.postMessage({ id, failed: result } satisfies McpWorkerAnswer);
    return;
  }
  const { toolsJson, ...connected } = result;
  const tools = new TextEncoder().encode(toolsJson.join('\n'));
  port.postMessage({ id, connected, tools } satisfies McpWorkerAnswer, [tools.buffer]);
}

/** Entry of the thread that talks to outside parties: a hostile answer can stall or exhaust this thread and no other. */
function serve(port: MessagePort): void {
  preloadSchemas();
  const tester = createTester(workerData as McpWorkerSettings);
  port.on('message', (job: McpWorkerJob) => void answer(tester, job, port));
  // The client library drops promises of messages nobody waits for; ending every other test for one would be worse.
  process.on('unhandledRejection', () => undefined);
}

if (parentPort !== null) {
  serve(parentPort);
}
