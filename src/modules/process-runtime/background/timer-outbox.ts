import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../../common/clock.js';
import { Log } from '../../../common/logging/log.js';
import { Database } from '../../../database/database.js';
import { ShardGroups } from '../../../database/shards.js';
import { Table } from '../../../database/table.js';
import { RepeatsService } from '../../repeats/repeats.service.js';
import { TimerOutboxEntity } from '../storage/timer-outbox.entity.js';
import { ScheduledJobs, seriesShard, type ScheduledJob } from './scheduled-jobs.js';

const OUTBOX = new Table(TimerOutboxEntity);
const WHOLE = OUTBOX.selectAllBut();
const AT_ONCE = 100;

/**
 * Where no transaction may touch two shards, an activation stores its first timers beside the active build, and a withdrawal its job. They are brought to their shards
 * after the commit; by each replica that starts, and with each cleanup, when the replica died in between.
 */
@Injectable()
export class TimerOutbox implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly jobs: ScheduledJobs,
    private readonly repeats: RepeatsService,
    private readonly groups: ShardGroups,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  onApplicationBootstrap(): Promise<void> {
    return this.tryToBring();
  }

  /** Adds a first job, or leaves it to `bring`, in the transaction of the activation. */
  async add(manager: EntityManager, id: number, first: ScheduledJob | null): Promise<void> {
    if (!this.groups.areApart) {
      await this.jobs.add(manager, id, first);
    } else if (first !== null) {
      await OUTBOX.insert(manager, [{ id, work: first }]);
    }
  }

  /** As `bring`; what fails is left to the next cleanup. */
  async tryToBring(): Promise<void> {
    try {
      await this.bring();
    } catch (error) {
      this.log.error('timers were not set', error);
    }
  }

  /** Brings what waits to its shards. A note beside the job makes a repetition harmless. */
  async bring(): Promise<void> {
    if (!this.groups.areApart) {
      return;
    }
    const found = { order: { id: 'ASC' }, limit: AT_ONCE } as const;
    for (;;) {
      const rows = await this.database.read((manager) => WHOLE.find(manager, {}, found));
      for (const { id, work } of rows) {
        await this.bringOne(id, work as unknown as ScheduledJob);
      }
      if (rows.length < AT_ONCE) {
        return;
      }
    }
  }

  private async bringOne(id: number, work: ScheduledJob): Promise<void> {
    await this.database.writeAside(async (manager) => {
      if (await this.repeats.note(manager, `timer:${id}`, seriesShard(work), this.clock.now())) {
        await this.jobs.add(manager, id, work);
      }
    });
    await this.database.writeAside((manager) => OUTBOX.delete(manager, { id }));
  }
}
