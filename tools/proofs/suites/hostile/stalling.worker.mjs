// A fake worker: depending on the base URL of a job it answers, exits, stalls forever or stays silent;
// depending on a setting it starts slowly.
import { parentPort, workerData } from 'node:worker_threads';

Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData.startMs ?? 0);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
parentPort.postMessage('ready');

parentPort.on('message', ({ id, request }) => {
  if (request.baseUrl.includes('stall')) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
  if (request.baseUrl.includes('exit')) {
    process.exit(1);
  }
  if (request.baseUrl.includes('answer')) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
    parentPort.postMessage({ id, failed: { outcome: 'unreachable', cause: 'refused', latencyMs: 1 } });
  }
});
