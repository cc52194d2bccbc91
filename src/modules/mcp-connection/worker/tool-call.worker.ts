import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import { preloadSchemas } from '@modelcontextprotocol/client';

import { createToolCaller } from './create-tool-caller.js';
import type {
  CallOrder,
  ToolCallMessage,
  ToolCallNotice,
  ToolCallWorkerSettings,
} from './tool-call.messages.js';
import type { CallOutcome } from './tool-caller.js';
import { WORKER_READY, type WorkerJob } from './worker-job.js';

/** A defect of ours must be an answer too, or the job would wait until the worker is killed for it. */
const INTERNAL: CallOutcome = {
  failed: { outcome: 'failed', cause: 'internal', sent: 'maybe', latencyMs: 0 },
};

/** Entry of the thread that calls tools: a hostile answer can stall or exhaust this thread and no other. */
function serve(port: MessagePort): void {
  // Libraries print what servers say; none of it may reach our log.
  process.stdout.write = () => true;
  process.stderr.write = () => true;
  preloadSchemas();
  const caller = createToolCaller(workerData as ToolCallWorkerSettings, (openSessions) => {
    port.postMessage({ notice: { openSessions } satisfies ToolCallNotice });
  });
  const running = new Map<number, AbortController>();
  const run = async ({ id, request, deadlineAt }: WorkerJob<CallOrder>): Promise<void> => {
    const controller = new AbortController();
    running.set(id, controller);
    const deadlineMs = Math.max(1, deadlineAt - Date.now());
    const outcome = await caller.call(request, deadlineMs, controller.signal).catch(() => INTERNAL);
    running.delete(id);
    port.postMessage({ id, ...outcome });
  };
  port.on('message', (message: ToolCallMessage) => {
    if (message === 'close') {
      void caller.close().finally(() => port.close());
    } else if ('cancel' in message) {
      running.get(message.cancel)?.abort();
    } else {
      void run(message);
    }
  });
  // The client library drops promises of messages nobody waits for; ending every other call for one would be worse.
  process.on('unhandledRejection', () => undefined);
  port.postMessage(WORKER_READY);
}

if (parentPort !== null) {
  serve(parentPort);
}
