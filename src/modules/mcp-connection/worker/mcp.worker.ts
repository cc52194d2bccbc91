import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import { preloadSchemas } from '@modelcontextprotocol/client';

import { AddressPolicy } from '../../../common/outbound/address-policy.js';
import { HeavySeats } from '../../../common/outbound/heavy-seats.js';
import { OutboundClient } from '../../../common/outbound/outbound.client.js';
import type { FailedResult } from '../model/connection-test.types.js';
import { ConnectionTester } from './connection-tester.js';
import type { McpWorkerAnswer, McpWorkerJob, McpWorkerSettings } from './mcp-worker.messages.js';
import { OAuthTokenClient } from './oauth-token.client.js';
import { WORKER_READY } from './worker-job.js';

/** Large answers in memory at once, and how long one is safe while others wait. */
const HEAVY_SEATS = 4;
const HEAVY_LEASE_MS = 2_000;
/**
 * Real tool lists have 20 bytes and more to an element. One element to 32 bytes of the total limit admits all that are not
 * made to be as large and as dense as possible; the floor keeps small limits usable.
 */
const BYTES_PER_ELEMENT = 32;
const MIN_ELEMENTS = 16_384;
const NEW_LINE = 10;

/** A defect of ours must be an answer too, or the job would wait until the worker is killed for it. */
const INTERNAL: FailedResult = { outcome: 'unreachable', cause: 'internal', latencyMs: 0 };

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
    operationLimits: {
      maxResponseBytes,
      maxTotalBytes,
      maxElements: Math.max(MIN_ELEMENTS, maxTotalBytes / BYTES_PER_ELEMENT),
    },
    toolListLimits: toolList,
  });
}

async function answer(
  tester: ConnectionTester,
  { id, request, deadlineAt }: McpWorkerJob,
  port: MessagePort,
) {
  const result = await tester.test(request, Math.max(1, deadlineAt - Date.now())).catch(() => INTERNAL);
  if (result.outcome !== 'connected') {
    port.postMessage({ id, failed: result } satisfies McpWorkerAnswer);
    return;
  }
  const { toolsJson, ...connected } = result;
  const tools = encodeLines(toolsJson);
  port.postMessage({ id, connected, tools } satisfies McpWorkerAnswer, [tools.buffer]);
}

/** One buffer at its final size: a list may be megabytes, and every copy counts against the worker's memory. */
function encodeLines(lines: string[]): Uint8Array<ArrayBuffer> {
  const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  const encoded = new Uint8Array(bytes);
  const encoder = new TextEncoder();
  let offset = 0;
  for (const line of lines) {
    offset += encoder.encodeInto(line, encoded.subarray(offset)).written;
    encoded[offset] = NEW_LINE;
    offset += 1;
  }
  return encoded;
}

/** Entry of the thread that talks to outside parties: a hostile answer can stall or exhaust this thread and no other. */
function serve(port: MessagePort): void {
  // Libraries print what servers say; none of it may reach our log.
  process.stdout.write = () => true;
  process.stderr.write = () => true;
  preloadSchemas();
  const tester = createTester(workerData as McpWorkerSettings);
  port.on('message', (job: McpWorkerJob) => void answer(tester, job, port));
  // The client library drops promises of messages nobody waits for; ending every other test for one would be worse.
  process.on('unhandledRejection', () => undefined);
  port.postMessage(WORKER_READY);
}

if (parentPort !== null) {
  serve(parentPort);
}
