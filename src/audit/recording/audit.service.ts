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

/** Content of an audit event. `AuditService` adds caller, time and request. */
export interface AuditEntry {
  action: AuditAction;
  outcome: AuditOutcome;
  appId: string;
  appVersionId: string;
  systemResourceId?: string | null;
  toolId?: string | null;
  /** Must contain no secrets and no text of external parties, except tool definitions of a synchronisation. */
  details?: Record<string, unknown> | null;
}

/** Writes and reads the audit log. */
@Injectable()
export class AuditService {
  private readonly denials = new RateLimiter({
    name: 'audit-denials-per-minute',
    max: auditLimits.denialsPerMinute,
  });

  constructor(
    private readonly repository: AuditRepository,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * Counts a denial of a caller. Rows are kept for ever, so callers without permissions must not be able to fill the database.
   * @returns whether to record the denial; beyond `denialsPerMinute` only the request log has it
   */
  admitsDenial(principal: Principal): boolean {
    try {
      void this.denials.consume(callerFingerprint(principal));
      return true;
    } catch {
      return false;
    }
  }

  /** Adds an event in the transaction of the change that it describes, so that neither exists without the other. */
  async record(manager: EntityManager, principal: Principal, entry: AuditEntry): Promise<void> {
    await this.repository.insert(manager, this.eventOf(principal, entry));
  }

  /** Stores an event unless it is already stored. */
  async store(event: AuditEventEntity): Promise<void> {
    await this.database.writeAside((manager) => this.repository.insertOnce(manager, event));
  }

  /** Adds an event before an external action that must not happen unrecorded. Throws when the event cannot be stored. */
  async recordBegin(principal: Principal, entry: Omit<AuditEntry, 'outcome'>): Promise<void> {
    await this.store(this.eventOf(principal, { ...entry, outcome: AuditOutcome.Ok }));
  }

  /** Adds an event of an action that changed nothing in the database. A failure is only logged. */
  async recordAlone(principal: Principal, entry: AuditEntry): Promise<void> {
    await this.insertAlone([this.eventOf(principal, entry)]);
  }

  /** Records the denials of one request in one transaction, up to the limit of denials. A failure is only logged. */
  async recordDenied(principal: Principal, entries: readonly Omit<AuditEntry, 'outcome'>[]): Promise<void> {
    const admitted = entries.filter(() => this.admitsDenial(principal));
    await this.insertAlone(
      admitted.map((entry) => this.eventOf(principal, { ...entry, outcome: AuditOutcome.Denied })),
    );
  }

  /** Returns a page of events, newest first. */
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

  /** Creates an event to be stored later with `store`. */
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
