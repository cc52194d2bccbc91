import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { isDuplicate } from '../../../database/driver-errors.js';
import type { AuditQuery } from '../model/audit.types.js';
import { AuditEventEntity } from './audit-event.entity.js';

/** Rows of the audit log. There is no way to change or remove one. */
@Injectable()
export class AuditRepository {
  async insert(manager: EntityManager, event: AuditEventEntity): Promise<void> {
    await manager.insert(AuditEventEntity, event as never);
  }

  /** Adds an event unless it is there. */
  async insertOnce(manager: EntityManager, event: AuditEventEntity): Promise<void> {
    try {
      await this.insert(manager, event);
    } catch (error) {
      if (!isDuplicate(error)) {
        throw error;
      }
    }
  }

  /** Events of an application version, newest first, at most `limit`. */
  async page(manager: EntityManager, query: AuditQuery, limit: number): Promise<AuditEventEntity[]> {
    const { appId, appVersionId, systemResourceId, before } = query;
    const select = manager
      .createQueryBuilder(AuditEventEntity, 'event')
      .where({ appId, appVersionId, ...(systemResourceId === undefined ? {} : { systemResourceId }) })
      .orderBy('event.id', 'DESC')
      .limit(limit);
    if (before !== undefined) {
      select.andWhere('event.id < :before', { before });
    }
    return select.getMany();
  }
}
