import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { JsonObject } from '#engine/json';
import type { Principal } from '../../../../platform/user/principal.js';
import { Database } from '../../../../store/database.js';
import { IdBlocks } from '../../../../store/ids/id-blocks.js';
import { ShardGroups } from '../../../../store/shards.js';
import { AuditService, type AuditEntry } from '../../../../audit/recording/audit.service.js';
import { JobHandlersService } from '../../../../jobs/queue/job-handlers.service.js';
import { JobQueueService } from '../../../../jobs/queue/job-queue.service.js';
import type { Job, JobHandler } from '../../../../jobs/model/job-queue.types.js';

type AuditEvent = ReturnType<AuditService['eventOf']>;

/**
 * Audit events of what changes rows of a shard. The audit log is not sharded, and a transaction touches one shard only: there the event is
 * left to a job of the same transaction. So neither exists without the other, and the event comes a moment later.
 */
@Injectable()
export class AuditJobs implements JobHandler, OnModuleInit {
  readonly kind = 'AUDIT_EVENT';

  constructor(
    private readonly handlers: JobHandlersService,
    private readonly queue: JobQueueService,
    private readonly audit: AuditService,
    private readonly ids: IdBlocks,
    private readonly groups: ShardGroups,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  /** Sees to it that `record` finds an id. Not inside of a transaction. */
  async prepare(): Promise<void> {
    if (this.groups.areApart) {
      await this.ids.provide(['job'], 1);
    }
  }

  /** In the transaction of the change. @param shard of its rows @throws IdRangeExhaustedError */
  async record(
    manager: EntityManager,
    principal: Principal,
    entry: AuditEntry,
    shard: number,
  ): Promise<void> {
    if (!this.groups.areApart) {
      await this.audit.record(manager, principal, entry);
      return;
    }
    const event = this.audit.eventOf(principal, entry);
    const payload = { text: JSON.stringify(event) };
    const job = { id: this.ids.take('job'), kind: this.kind, availableAt: event.occurredAt, payload, shard };
    await this.queue.add(manager, [job]);
  }

  /** Stores an event that was left to a job. Never given up. */
  async run(job: Job): Promise<void> {
    const { text } = job.payload as JsonObject & { text: string };
    const event = JSON.parse(text) as Omit<AuditEvent, 'occurredAt'> & { occurredAt: string };
    await this.audit.store({ ...event, occurredAt: new Date(event.occurredAt) });
    await this.database.write((manager) => this.queue.complete(manager, job));
  }
}
