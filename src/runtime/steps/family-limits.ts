import { Injectable } from '@nestjs/common';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import { Metrics, type LimitUse } from '../../platform/observability/metrics/metrics.js';
import type { Limit } from '../../platform/config/env.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { EngineIncident, type EngineJob, type StepResult } from '#engine/tokens';
import { processLimits } from '../process.limits.js';
import { Families, familyOf } from '../storage/families.repository.js';
import type { InstanceRow } from '../storage/process-instance.entity.js';
import { hasEnded } from './instance-status.js';
import type { StepWriting } from './step.types.js';
import { Database } from '../../store/database.js';

/** Whether a process can add any number of jobs of each kind. Each live token has only a few of the other kinds. */
const IS_UNLIMITED: Readonly<Record<EngineJob['kind'], boolean>> = {
  ACTION_DUE: false,
  APPEND_TO_PARENT: true,
  CALL: true,
  CONTINUE: false,
  END_CHILDREN: false,
  NOTIFY_PARENT: false,
  PUBLISH_MESSAGE: true,
  TIMER: false,
  WORKFLOW: false,
};

/** Minimum time between two counts, however often the metrics are scraped: a count reads every job. */
const CACHE_MS = 30_000;

/**
 * Limits a process family: an instance that no other instance called, and everything that it has called (docs/process-semantics.md,
 * section 9). Steps without calls in processes without a caller need no statement.
 */
@Injectable()
export class FamilyLimits {
  private readonly instances: Limit = { name: 'family-instances', max: processLimits.familyInstances };
  private readonly jobs: Limit = { name: 'family-jobs', max: processLimits.familyJobs };

  constructor(
    private readonly queue: JobQueueService,
    private readonly metrics: Metrics,
    database: Database,
  ) {
    const show = (limit: Limit, read: (executor: SqlExecutor) => Promise<LimitUse>): void =>
      metrics.limits.show(
        limit,
        cachedFor(CACHE_MS, () => database.read(read)),
      );
    show(this.instances, (manager) => Families.use(manager));
    show(this.jobs, (manager) => Families.useOfJobs(manager));
  }

  /** Whether a step locks the row of its family. */
  locksFamily({ rootId }: InstanceRow, { jobs }: StepResult): boolean {
    return rootId !== null || jobs.some(({ kind }) => IS_UNLIMITED[kind]);
  }

  /**
   * Checks the jobs of a step against the limit of the family, before they are added. Other steps of the family that add such jobs wait
   * until the transaction ends.
   * @throws EngineIncident beyond `familyJobs`
   */
  async requireJobRoom({ transaction, row, result: { jobs } }: StepWriting): Promise<void> {
    const first = jobs.find(({ kind }) => IS_UNLIMITED[kind]);
    if (first === undefined) {
      return;
    }
    const familyId = familyOf(row);
    await Families.lock(transaction, familyId);
    const open = await this.queue.countOfFamily(transaction, familyId, this.jobs.max);
    if (open + jobs.length > this.jobs.max) {
      this.metrics.limits.refused(this.jobs.name);
      const message = `The process family would have more than ${this.jobs.max} open background jobs.`;
      const place = first.kind === 'CALL' ? { node: first.node, tokenId: first.tokenId } : {};
      throw new EngineIncident('NODE', 'ENGINE', message, place);
    }
  }

  /**
   * Counts a called instance that begins or ends with a step. Call it last in the transaction.
   * @throws EngineIncident beyond `familyInstances`
   */
  async count({ transaction, row, isNew, result: { instance } }: StepWriting): Promise<void> {
    const { rootId } = row;
    const [was, is] = [!isNew && !hasEnded(row.state), !hasEnded(instance.state)];
    if (rootId === null || was === is) {
      return;
    }
    if (was) {
      await Families.leave(transaction, rootId);
    } else if (!(await Families.enter(transaction, rootId, this.instances.max))) {
      this.metrics.limits.refused(this.instances.name);
      const message = `The process family would have more than ${this.instances.max} live instances.`;
      throw new EngineIncident('SUBPROCESS', 'SUBPROCESS', message);
    }
  }
}

/** Caches a read for some time. A failed read is not cached. */
function cachedFor<Result>(cacheMs: number, read: () => Promise<Result>): () => Promise<Result> {
  let last: { readonly at: number; readonly result: Promise<Result> } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.at >= cacheMs) {
      const result = read();
      last = { at: performance.now(), result };
      result.catch(() => {
        last = undefined;
      });
    }
    return last.result;
  };
}
