import { Injectable } from '@nestjs/common';
import { given } from '../../platform/given.js';
import { And, LessThan, type EntityManager } from 'typeorm';
import { type Where, uuidsIn } from '../../store/tables/conditions.js';
import { isDuplicate } from '../../store/connection/driver-errors.js';
import { Table } from '../../store/tables/table.js';
import type { AuditQuery } from '../model/audit.types.js';
import { AuditEventEntity } from './audit-event.entity.js';

const EVENTS = new Table(AuditEventEntity).selectAllBut();

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

  /** Events of an application, newest first, at most `limit`. */
  async page(manager: EntityManager, query: AuditQuery, limit: number): Promise<AuditEventEntity[]> {
    return EVENTS.find(manager, conditionsOf(query), { order: { id: 'DESC' }, limit });
  }
}

function conditionsOf(query: AuditQuery): Where<AuditEventEntity> {
  const { appId, appVersionId, systemResourceId, action, outcome, actor, before } = query;
  const ids = [...uuidsIn(query), ...(before === undefined ? [] : [LessThan(before)])];
  const id = ids.length === 0 ? undefined : And(...ids);
  return given({ id, appId, appVersionId, systemResourceId, action, outcome, actorSubject: actor });
}
