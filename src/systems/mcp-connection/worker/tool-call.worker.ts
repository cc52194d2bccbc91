import { workerData } from 'node:worker_threads';

import { preloadSchemas } from '@modelcontextprotocol/client';

import { serveWorker, type WorkerJob, type WorkerProlonged } from '../../../platform/threads/serve-worker.js';
import type { McpWorkerSettings } from '../model/worker-settings.js';
import { type CallOutcome, ToolCaller } from './tool-caller.js';
import { checkedJson } from './arguments-check.js';
import type { CallOrder, ToolCallMessage, ToolCallWork } from './worker.messages.js';

/** Answer in case of a bug, because a job without an answer waits until its worker is killed. */
const INTERNAL: CallOutcome = {
  failed: { outcome: 'failed', cause: 'internal', sent: 'maybe', latencyMs: 0 },
};

serveWorker((port) => {
  preloadSchemas();
  const caller = new ToolCaller(workerData as McpWorkerSettings, (notice) => port.postMessage({ notice }));
  const running = new Map<number, AbortController>();
  const call = async (id: number, order: CallOrder, deadlineAt: number): Promise<CallOutcome> => {
    const controller = new AbortController();
    running.set(id, controller);
    const deadlineMs = Math.max(1, deadlineAt - Date.now());
    const onProlonged = (ms: number): void =>
      port.postMessage({ prolonged: id, ms } satisfies WorkerProlonged);
    const limits = { deadlineMs, signal: controller.signal, onProlonged };
    return caller.call(order, limits).finally(() => running.delete(id));
  };
  const done = async ({ id, request, deadlineAt }: WorkerJob<ToolCallWork>) =>
    'check' in request ? { checked: checkedJson(request.check) } : call(id, request, deadlineAt);
  const run = async (job: WorkerJob<ToolCallWork>): Promise<void> => {
    const outcome = await done(job).catch(() => INTERNAL);
    port.postMessage({ id: job.id, ...outcome });
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
});
