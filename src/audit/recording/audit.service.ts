import { Injectable } from '@nestjs/common';
import { callerFingerprint, type Principal } from '../../platform/user/principal.js';
import { RateLimiter } from '../../platform/rate-limit/rate-limiter.js';
import { auditLimits } from '../audit.limits.js';
import { pageLimits } from '../../platform/validation/page.limits.js';
import type { EntityManager } from 'typeorm';
import { orderedUuid } from '../../platform/ordered-uuid.js';
import { readPage, type Page } from '../../platform/validation/page.js';
import { Clock } from '../../platform/clock.js';
import { requestContext } from '../../platform/observability/logging/request-context.js';
import { Log } from '../../platform/observability/logging/log.js';
import { Database } from '../../store/database.js';
import { AuditRepository } from '../storage/audit.repository.js';
import { AuditOutcome, type AuditAction, type AuditQuery } from '../model/audit.types.js';
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
  private readonly denials = new RateLimiter({
    name: 'audit-denials-per-minute',
    most: auditLimits.denialsPerMinute,
  });

  constructor(
    private readonly repository: AuditRepository,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * Counts a refusal to a caller. Rows are kept for ever, and who may do nothing must not be able to fill the database.
   * @returns whether it is to be recorded; beyond `denialsPerMinute` the request log alone tells of it
   */
  admitsDenial(principal: Principal): boolean {
    try {
      void this.denials.consume(callerFingerprint(principal));
      return true;
    } catch {
      return false;
    }
  }

  /** Adds an event to the transaction of the change it tells of, so that neither exists without the other. */
  async record(manager: EntityManager, principal: Principal, entry: AuditEntry): Promise<void> {
    await this.repository.insert(manager, this.eventOf(principal, entry));
  }

  /** Stores an event, unless it is stored already. */
  async store(event: AuditEventEntity): Promise<void> {
    await this.database.writeAside((manager) => this.repository.insertOnce(manager, event));
  }

  /** Adds an event of what is about to be done outside, where nothing may be done that the log does not tell of. A failure is thrown. */
  async recordBegin(principal: Principal, entry: Omit<AuditEntry, 'outcome'>): Promise<void> {
    await this.store(this.eventOf(principal, { ...entry, outcome: AuditOutcome.Ok }));
  }

  /** Adds an event of something that changed nothing. A failure is logged and does not change the caller's answer. */
  async recordAlone(principal: Principal, entry: AuditEntry): Promise<void> {
    await this.insertAlone([this.eventOf(principal, entry)]);
  }

  /** As `recordAlone` for what one call was refused: in one transaction, as far as the limit of refusals goes. */
  async recordDenied(principal: Principal, entries: readonly Omit<AuditEntry, 'outcome'>[]): Promise<void> {
    const admitted = entries.filter(() => this.admitsDenial(principal));
    await this.insertAlone(
      admitted.map((entry) => this.eventOf(principal, { ...entry, outcome: AuditOutcome.Denied })),
    );
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

  /** An event that is stored later, see `store`. */
  eventOf(principal: Principal, entry: AuditEntry): AuditEventEntity {
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
