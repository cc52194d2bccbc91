import { UnreadableBodyError } from '../../../platform/errors/request.errors.js';
import { plainHttpOf } from '../../../platform/outbound/configured-outbound.js';
import { WorkerPool, type LostJobCause } from '../../../platform/threads/worker.pool.js';
import type { Env } from '../../../platform/config/env.js';
import type { PackageProblem } from '../model/package.types.js';
import { PackageChecksBusyError, SequenceNotFoundError } from '../model/packages.errors.js';
import { APPLICATION_FILE } from '../reading/package-reader.js';
import type {
  CheckResult,
  CheckTask,
  EditedPackage,
  EditTask,
  NumberTask,
  PackageTask,
  PackageTaskAnswer,
  PackageWork,
  PackageWorkerAnswer,
  ReadPackage,
} from './package-task.types.js';
import { packageLimits } from '../package.limits.js';

/** A task that never got an answer. */
interface Lost {
  lost: LostJobCause | 'loading';
}

/** Maximum number of attempts when the thread ends for an unknown reason. */
const ATTEMPTS = 2;

/** Reads and checks packages in a worker thread, one at a time. A thread that exceeds its time or memory is replaced. */
export class PackageThread {
  private readonly pool: WorkerPool<PackageTask, PackageWorkerAnswer, PackageTaskAnswer | Lost>;
  /** Identifies threads that are interchangeable. */
  readonly settings: string;
  private readonly timeoutMs: number;
  private readonly memoryMb: number;

  constructor(env: Env) {
    this.timeoutMs = packageLimits.timeoutMs;
    this.memoryMb = packageLimits.memoryMb;
    const niceness = packageLimits.niceness;
    // The default depends on the mode, which the worker does not know.
    const settings = { OUTBOUND_HTTP: plainHttpOf(env) };
    this.settings = JSON.stringify([this.timeoutMs, this.memoryMb, niceness, settings]);
    this.pool = new WorkerPool({
      name: 'package-check',
      entry: '#package-worker',
      workerData: { settings },
      memoryMb: this.memoryMb,
      niceness,
      maxJobs: 1,
      read: (answer): PackageTaskAnswer | Lost => answer,
      // If the thread does not start in time, the machine is slow, and the package is not to blame.
      lost: (cause, _ms, fate) => ({ lost: fate === 'loading' ? fate : cause }),
    });
  }

  /** @throws UnreadableBodyError when the text is not a JSON object, PackageChecksBusyError when there is no thread */
  async read(task: PackageWork['read']['task']): Promise<ReadPackage> {
    const read = await this.run('read', task);
    return 'lost' in read ? { outline: null, problems: this.problemsOf(read) } : read;
  }

  /** @throws as `read`, and SequenceNotFoundError */
  async edit(task: EditTask): Promise<EditedPackage> {
    const json = await this.run('edit', task);
    return 'lost' in json ? { json: null, problems: this.problemsOf(json) } : { json, problems: [] };
  }

  /** @throws as `read` */
  async check(task: CheckTask): Promise<CheckResult> {
    const checked = await this.run('check', task);
    return 'lost' in checked ? { storable: null, problems: this.problemsOf(checked) } : checked;
  }

  /**
   * Returns the JSON of a process graph with the ids of its nodes, in the stored form.
   * @throws as `read`
   */
  async number(task: NumberTask): Promise<Uint8Array> {
    const numbered = await this.run('number', task);
    if ('lost' in numbered) {
      // The package was checked a moment ago, so it is neither wrong nor too complex.
      this.problemsOf(numbered);
      throw new PackageChecksBusyError();
    }
    return numbered;
  }

  /** Waits for the task in flight and ends the thread. */
  async close(): Promise<void> {
    await this.pool.close();
  }

  private async attempt(task: PackageTask): Promise<PackageTaskAnswer | Lost> {
    await this.pool.ready();
    return this.pool.run(task, this.timeoutMs);
  }

  private async run<Name extends keyof PackageWork>(
    name: Name,
    work: PackageWork[Name]['task'],
  ): Promise<PackageWork[Name]['result'] | Lost> {
    const task = { task: name, ...work } as PackageTask;
    let answer = await this.attempt(task);
    for (let attempt = 1; 'lost' in answer && answer.lost === 'ended' && attempt < ATTEMPTS; attempt += 1) {
      answer = await this.attempt(task);
    }
    if ('refused' in answer) {
      throw new UnreadableBodyError(answer.refused);
    }
    if ('noSequence' in answer) {
      throw new SequenceNotFoundError();
    }
    if ('fault' in answer) {
      const { errorName: name, errorMessage: message, stack } = answer.fault;
      throw Object.assign(new Error(message), { name, stack });
    }
    return 'lost' in answer ? answer : answer.result;
  }

  private problemsOf({ lost }: Lost): PackageProblem[] {
    const message = `The check of the package ${this.exceededLimit(lost)}: make its processes smaller, or move a part of it into a library.`;
    return [
      { severity: 'error', code: 'PACKAGE_TOO_COMPLEX', file: APPLICATION_FILE, element: null, message },
    ];
  }

  /** @throws PackageChecksBusyError when nothing is wrong with the package */
  private exceededLimit(lost: Lost['lost']): string {
    switch (lost) {
      case 'timeout':
        return `took longer than ${this.timeoutMs} ms`;
      case 'memory':
        return `took more memory than ${this.memoryMb} MB`;
      case 'ended':
        throw new Error('The thread that checks packages ended unexpectedly.');
      default:
        throw new PackageChecksBusyError();
    }
  }
}
