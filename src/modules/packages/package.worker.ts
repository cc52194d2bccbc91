import { workerData } from 'node:worker_threads';
import { serveWorker } from '../../common/threads/serve-worker.js';
import { Env } from '../../config/env.js';
import { ProcessCompilerService } from '../process-definitions/process-compiler.service.js';
import { PackagesService } from './packages.service.js';
import type { PackageJob, PackageWorkerAnswer, PackageWorkerSettings } from './thread/package-task.types.js';
import { buffersOf, PackageTasks } from './package-tasks.js';

serveWorker((port) => {
  const env = Env.parse('maintenance', (workerData as PackageWorkerSettings).settings);
  const tasks = new PackageTasks(new PackagesService(env, new ProcessCompilerService(env)));
  const run = async ({ id, request }: PackageJob): Promise<void> => {
    const answer = await tasks.answer(request);
    port.postMessage({ id, ...answer } satisfies PackageWorkerAnswer, buffersOf(answer));
  };
  port.on('message', (job: PackageJob) => void run(job));
});
