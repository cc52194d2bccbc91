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
 * Records audit events of changes in a shard. The audit log is not sharded and a transaction writes to one shard only, so on a sharded
 * database the event is stored by a job added in the same transaction, a moment later.
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

  /** Reserves an id for `record`; must not run inside a transaction. */
  async prepare(): Promise<void> {
    if (this.groups.areApart) {
      await this.ids.provide(['job'], 1);
    }
  }

  /** Records an event in the transaction of the change. @param shard shard of the changed rows @throws IdRangeExhaustedError */
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

  /** Stores the event of a job; retried until it succeeds. */
  async run(job: Job): Promise<void> {
    const { text } = job.payload as JsonObject & { text: string };
    const event = JSON.parse(text) as Omit<AuditEvent, 'occurredAt'> & { occurredAt: string };
    await this.audit.store({ ...event, occurredAt: new Date(event.occurredAt) });
    await this.database.write((manager) => this.queue.complete(manager, job));
  }
}
