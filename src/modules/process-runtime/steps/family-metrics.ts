import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Metrics, type LimitUse } from '../../../common/metrics/metrics.js';
import { Database } from '../../../database/database.js';
import { FamiliesRepository } from '../storage/families.repository.js';
import { processLimits } from '../process.limits.js';

/** Every job is counted, so a replica looks no more often than that, however often it is asked for its metrics. */
const KEPT_MS = 30_000;

/** How large process families are in all replicas, read when somebody asks for the metrics. */
@Injectable()
export class FamilyMetrics {
  constructor({ limits }: Metrics, families: FamiliesRepository, database: Database) {
    const reading = (read: (manager: EntityManager) => Promise<LimitUse>): (() => Promise<LimitUse>) =>
      keptFor(KEPT_MS, () => database.read(read));
    limits.show(
      { name: 'family-instances', most: processLimits.familyInstances },
      reading((manager) => families.use(manager)),
    );
    limits.show(
      { name: 'family-jobs', most: processLimits.familyJobs },
      reading((manager) => families.useOfJobs(manager)),
    );
  }
}

/** Reads at most once in that time, and again at once after a failure; who asks meanwhile gets what was read last. */
function keptFor<Result>(keptMs: number, read: () => Promise<Result>): () => Promise<Result> {
  let last: { readonly at: number; readonly result: Promise<Result> } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.at >= keptMs) {
      const result = read();
      last = { at: performance.now(), result };
      result.catch(() => {
        last = undefined;
      });
    }
    return last.result;
  };
}
