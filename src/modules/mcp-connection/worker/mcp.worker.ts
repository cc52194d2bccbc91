import { type MessagePort, workerData } from 'node:worker_threads';

import { preloadSchemas } from '@modelcontextprotocol/client';

import { serveWorker } from '../../../common/threads/serve-worker.js';
import type { FailedResult } from '../model/connection-test.types.js';
import { ConnectionTester } from './connection-tester.js';
import type { McpWorkerSettings } from '../model/worker-settings.js';
import type { McpWorkerAnswer, McpWorkerJob } from './worker.messages.js';

const NEW_LINE = 10;

/** A defect of ours must be an answer too, or the job would wait until the worker is killed for it. */
const INTERNAL: FailedResult = { outcome: 'unreachable', cause: 'internal', latencyMs: 0 };

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

serveWorker((port) => {
  preloadSchemas();
  const tester = new ConnectionTester(workerData as McpWorkerSettings);
  port.on('message', (job: McpWorkerJob) => void answer(tester, job, port));
});
