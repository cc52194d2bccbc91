import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Env } from '../../../config/env.js';
import { ShardGroups } from '../../../database/shard-groups.js';
import { QuotasService } from '../../quotas/accounts/quotas.service.js';
import { FamiliesRepository } from '../storage/families.repository.js';
import { MessagesRepository } from '../storage/messages.repository.js';
import { RepeatsRepository } from '../storage/repeats.repository.js';

const DAY_MS = 86_400_000;

/** Deletes up to so many rows; returns how many. */
export type Removal = (manager: EntityManager, limit: number) => Promise<number>;

/** Rows that mean nothing after some time. */
@Injectable()
export class ExpiredRows {
  constructor(
    private readonly repeats: RepeatsRepository,
    private readonly messages: MessagesRepository,
    private readonly families: FamiliesRepository,
    private readonly quotas: QuotasService,
    private readonly groups: ShardGroups,
    private readonly env: Env,
  ) {}

  /** What can be deleted at a time. */
  removals(now: Date): Removal[] {
    const oldest = new Date(now.getTime() - this.env.get('PROCESS_IDEMPOTENCY_DAYS') * DAY_MS);
    const ofGroups = this.groups
      .inTurn()
      .flatMap((shards): Removal[] => [
        (manager, limit) => this.repeats.removeBefore(manager, shards, oldest, limit),
        (manager, limit) => this.messages.removeExpired(manager, shards, now, limit),
        (manager, limit) => this.families.removeEmpty(manager, shards, limit),
      ]);
    return [...ofGroups, (manager, limit) => this.quotas.removeEnded(manager, now, limit)];
  }
}
