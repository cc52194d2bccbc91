import { pageLimits } from '../../../common/validation/page.limits.js';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { orderedUuid } from '../../../common/ordered-uuid.js';
import type { Principal } from '../../../common/user/principal.js';
import { readPage, type Page } from '../../../common/page.js';
import { Clock } from '../../../common/clock.js';
import { requestContext } from '../../../common/logging/request-context.js';
import { Log } from '../../../common/logging/log.js';
import { Database } from '../../../database/database.js';
import { AuditRepository } from '../storage/audit.repository.js';
import { AuditOutcome, type AuditAction, type AuditQuery } from '../model/audit.types.js';
import { DenialLimit } from './denial-limit.js';
import type { AuditEventEntity } from '../storage/audit-event.entity.js';

/** One thing that happened, as its author tells it; who, when and in which request is added here. */
export interface AuditEntry {
  action: AuditAction;
  outcome: AuditOutcome;
  appId: string;
  appVersionId: string;
  systemResourceId?: string | null;
  toolId?: string | null;
  /** Facts without secrets and without text of outside parties, except tool definitions in a synchronisation. */
  details?: Record<string, unknown> | null;
}

/** Writes and reads the audit log. */
@Injectable()
export class AuditService {
  constructor(
    private readonly repository: AuditRepository,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly limit: DenialLimit,
  ) {}

  /** Adds an event to the transaction of the change it tells of, so that neither exists without the other. */
  async record(manager: EntityManager, principal: Principal, entry: AuditEntry): Promise<void> {
    await this.repository.insert(manager, this.toEvent(principal, entry));
  }

  /** An event that is stored later, see `store`. */
  eventOf(principal: Principal, entry: AuditEntry): AuditEventEntity {
    return this.toEvent(principal, entry);
  }

  /** Stores an event, unless it is stored already. */
  async store(event: AuditEventEntity): Promise<void> {
    await this.database.writeAside((manager) => this.repository.insertOnce(manager, event));
  }

  /** Adds an event of what is about to be done outside, where nothing may be done that the log does not tell of. A failure is thrown. */
  async recordBegin(principal: Principal, entry: Omit<AuditEntry, 'outcome'>): Promise<void> {
    await this.store(this.toEvent(principal, { ...entry, outcome: AuditOutcome.Ok }));
  }

  /** Adds an event of something that changed nothing. A failure is logged and does not change the caller's answer. */
  async recordAlone(principal: Principal, entry: AuditEntry): Promise<void> {
    await this.insertAlone([this.toEvent(principal, entry)]);
  }

  /**
   * As `recordAlone` for what one call of somebody was refused: all of it in one transaction, as far as the limit of refusals goes.
   */
  async recordDenied(principal: Principal, entries: readonly Omit<AuditEntry, 'outcome'>[]): Promise<void> {
    const events: AuditEventEntity[] = [];
    for (const entry of entries) {
      if (this.limit.admits(principal)) {
        events.push(this.toEvent(principal, { ...entry, outcome: AuditOutcome.Denied }));
      }
    }
    await this.insertAlone(events);
  }

  /** A page of events, newest first. */
  async page(query: AuditQuery): Promise<Page<AuditEventEntity>> {
    return readPage(
      query.limit ?? pageLimits.size,
      (limit) => this.database.read((manager) => this.repository.page(manager, query, limit)),
      ({ id }) => id,
    );
  }

  private async insertAlone(events: AuditEventEntity[]): Promise<void> {
    const [first] = events;
    if (first === undefined) {
      return;
    }
    try {
      await this.database.writeAside(async (manager) => {
        for (const event of events) {
          await this.repository.insert(manager, event);
        }
      });
    } catch (error) {
      const { action, outcome } = first;
      this.log.error('audit event was not stored', error, { action, outcome });
    }
  }

  private toEvent(principal: Principal, entry: AuditEntry): AuditEventEntity {
    const occurredAt = this.clock.now();
    return {
      id: orderedUuid(occurredAt),
      occurredAt,
      action: entry.action,
      outcome: entry.outcome,
      appId: entry.appId,
      appVersionId: entry.appVersionId,
      systemResourceId: entry.systemResourceId ?? null,
      toolId: entry.toolId ?? null,
      actorIssuer: principal.issuer.slice(0, 255),
      actorSubject: principal.subject.slice(0, 255),
      actor: principal.user,
      requestId: requestContext()?.requestId ?? '',
      callerRequestId: requestContext()?.callerRequestId ?? null,
      details: entry.details ?? null,
    };
  }
}
