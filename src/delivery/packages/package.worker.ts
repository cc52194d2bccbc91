import { workerData } from 'node:worker_threads';
import { serveWorker, type WorkerJob } from '../../platform/threads/serve-worker.js';
import { Env } from '../../platform/config/env.js';
import { buffersOf, PackageTasks } from './package-tasks.js';
import { PackagesService } from './packages.service.js';
import type { PackageTask, PackageWorkerAnswer } from './thread/package-task.types.js';

serveWorker((port) => {
  const { settings } = workerData as { settings: Record<string, string> };
  const env = Env.parse('maintenance', settings);
  const tasks = new PackageTasks(new PackagesService(env));
  const run = async ({ id, request }: WorkerJob<PackageTask>): Promise<void> => {
    const answer = await tasks.answer(request);
    port.postMessage({ id, ...answer } satisfies PackageWorkerAnswer, buffersOf(answer));
  };
  port.on('message', (job: WorkerJob<PackageTask>) => void run(job));
});
