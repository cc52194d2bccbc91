import type { AuditEventEntity } from './audit-event.entity.js';

/** A page of events, newest first; `next` is the id to read on from, null on the last page. */
export interface AuditPage {
  events: AuditEventEntity[];
  next: string | null;
}
