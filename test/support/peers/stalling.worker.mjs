// A stand-in for the worker: depending on the base URL of a job it answers, exits, stalls for ever or says nothing.
import { parentPort } from 'node:worker_threads';

parentPort.on('message', ({ id, request }) => {
  if (request.baseUrl.includes('stall')) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
  if (request.baseUrl.includes('exit')) {
    process.exit(1);
  }
  if (request.baseUrl.includes('answer')) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort.postMessage({ id, failed: { outcome: 'unreachable', cause: 'refused', latencyMs: 1 } });
  }
});
