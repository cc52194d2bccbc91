import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ShardGroups } from '../../../database/shards.js';
import { BuildsService } from '../../builds/making/builds.service.js';
import { QuotasService } from '../../quotas/accounts/quotas.service.js';
import { FamiliesRepository } from '../storage/families.repository.js';
import { MessagesRepository } from '../storage/messages.repository.js';
import { RepeatsService } from '../../repeats/repeats.service.js';

/** Deletes up to so many rows; returns how many. */
export type Removal = (manager: EntityManager, limit: number) => Promise<number>;

/** Rows that mean nothing after some time. */
@Injectable()
export class ExpiredRows {
  constructor(
    private readonly repeats: RepeatsService,
    private readonly messages: MessagesRepository,
    private readonly families: FamiliesRepository,
    private readonly builds: BuildsService,
    private readonly quotas: QuotasService,
    private readonly groups: ShardGroups,
  ) {}

  /** What can be deleted at a time. */
  removals(now: Date): Removal[] {
    const oldest = this.repeats.oldest(now);
    const ofGroups = this.groups
      .inTurn()
      .flatMap((shards): Removal[] => [
        (manager, limit) => this.repeats.removeBefore(manager, shards, oldest, limit),
        (manager, limit) => this.messages.removeExpired(manager, shards, now, limit),
        (manager, limit) => this.families.removeEmpty(manager, shards, limit),
      ]);
    return [
      ...ofGroups,
      (manager, limit) => this.builds.removeRepeatsBefore(manager, oldest, limit),
      (manager, limit) => this.quotas.removeEnded(manager, now, limit),
    ];
  }
}
