import { Injectable } from '@nestjs/common';
import { withoutUndefined } from '../../platform/without-undefined.js';
import { And, LessThan, type EntityManager, type FindOptionsWhere } from 'typeorm';
import { uuidsIn } from '../../store/tables/conditions.js';
import { isDuplicate } from '../../store/connection/driver-errors.js';
import type { AuditQuery } from '../model/audit.types.js';
import { AuditEventEntity } from './audit-event.entity.js';

/** Rows of the audit log, which are never changed or removed. */
@Injectable()
export class AuditRepository {
  async insert(manager: EntityManager, event: AuditEventEntity): Promise<void> {
    await manager.insert(AuditEventEntity, event as never);
  }

  /** Adds an event unless it exists. */
  async insertOnce(manager: EntityManager, event: AuditEventEntity): Promise<void> {
    try {
      await this.insert(manager, event);
    } catch (error) {
      if (!isDuplicate(error)) {
        throw error;
      }
    }
  }

  /** Returns up to `limit` events of an application, newest first. */
  async page(manager: EntityManager, query: AuditQuery, limit: number): Promise<AuditEventEntity[]> {
    return manager.find(AuditEventEntity, { where: conditionsOf(query), order: { id: 'DESC' }, take: limit });
  }
}

function conditionsOf(query: AuditQuery): FindOptionsWhere<AuditEventEntity> {
  const { appId, appVersionId, systemResourceId, action, outcome, actor, before } = query;
  const ids = [...uuidsIn(query), ...(before === undefined ? [] : [LessThan(before)])];
  const id = ids.length === 0 ? undefined : And(...ids);
  return withoutUndefined({
    id,
    appId,
    appVersionId,
    systemResourceId,
    action,
    outcome,
    actorSubject: actor,
  });
}
