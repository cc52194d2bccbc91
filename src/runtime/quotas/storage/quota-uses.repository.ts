import { Injectable } from '@nestjs/common';
import { LessThan, LessThanOrEqual, type EntityManager } from 'typeorm';
import { sameShard } from '../../../store/shards.js';
import type { RawRow } from '../../../store/tables/column-values.js';
import { Table } from '../../../store/tables/table.js';
import type { PayerJobs } from '../model/quota.types.js';
import { QuotaUseEntity } from './quota-use.entity.js';

/** Key and end of a window. */
export type QuotaWindow = Pick<QuotaUseEntity, 'id' | 'endsAt'>;

const USES = new Table(QuotaUseEntity);
const USED = USES.select('used');

/** Stores the used amounts of all replicas, and counts their open background jobs. */
@Injectable()
export class QuotaUsesRepository {
  /** Adds to the used amount unless that exceeds the limit. @returns whether it was added */
  async add(manager: EntityManager, window: QuotaWindow, amount: number, limit: number): Promise<boolean> {
    if (amount > limit) {
      return false;
    }
    if (await this.tryAdd(manager, window, amount, limit)) {
      return true;
    }
    await USES.ensure(manager, { ...window, used: 0 });
    return this.tryAdd(manager, window, amount, limit);
  }

  /** Adds to the used amount regardless of the limit; a negative amount is given back. */
  async force(manager: EntityManager, window: QuotaWindow, amount: number): Promise<void> {
    await USES.ensure(manager, { ...window, used: 0 });
    await USES.update(manager, { id: window.id }, { used: () => `used + ${Math.trunc(amount)}` });
  }

  async used(manager: EntityManager, { id }: QuotaWindow): Promise<number> {
    return (await USED.first(manager, { id }))?.used ?? 0;
  }

  /** Removes ended windows; returns how many. */
  async removeEnded(manager: EntityManager, now: Date, limit: number): Promise<number> {
    const found = { order: { endsAt: 'ASC' }, limit } as const;
    return USES.deleteFirst(manager, 'id', { endsAt: LessThan(now) }, found);
  }

  /** Counts open background jobs by payer. Excludes jobs that match messages, because they may themselves wait for the quota. */
  async openJobs(manager: EntityManager): Promise<PayerJobs[]> {
    const rows = await manager.query<RawRow[]>(
      `SELECT i.root_app_id AS app, i.starter AS caller, COUNT(*) AS jobs
       FROM runtime_jobs j JOIN process_instances i ON i.id = j.instance_id${sameShard(manager, 'i', 'j')}
       WHERE j.kind <> 'MATCH_MESSAGE' GROUP BY i.root_app_id, i.starter`,
    );
    return rows.map(({ app, caller, jobs }) => ({
      appId: String(app),
      caller: caller as string | null,
      jobs: Number(jobs),
    }));
  }

  private async tryAdd(
    manager: EntityManager,
    { id }: QuotaWindow,
    amount: number,
    limit: number,
  ): Promise<boolean> {
    const room = { id, used: LessThanOrEqual(limit - amount) };
    return (await USES.update(manager, room, { used: () => `used + ${Math.trunc(amount)}` })) === 1;
  }
}
