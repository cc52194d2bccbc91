import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { JsonObject } from '../../../common/json.js';
import { toDate, type RawRow } from '../../../database/raw-row.js';
import { toSafeInteger } from '../../../database/safe-integer.js';
import { toStoredText } from '../../../database/stored-text.js';
import type { EngineEvent } from '../engine/state/engine.types.js';
import type { ProcessEventKind } from '../model/process-runtime.types.js';
import { insertRows, sqlText, sqlTime } from './sql.js';

/** An event to store. */
export interface NewEvent extends Omit<EngineEvent, 'kind'> {
  kind: ProcessEventKind;
}

/** Who caused events, and in which request. */
export interface EventOrigin {
  /** User name; null for background work. */
  actor: string | null;
  requestId: string | null;
}

/** An event as stored. */
export interface EventRow extends NewEvent, EventOrigin {
  at: Date;
}

const COLUMNS = 'seq, kind, token_id, node, actor, request_id, at, data';

/** The audit trails of instances. */
@Injectable()
export class EventsRepository {
  async insert(
    manager: EntityManager,
    owner: { id: number; shard: number },
    events: readonly NewEvent[],
    origin: EventOrigin & { at: Date },
  ): Promise<void> {
    const rows = events.map((event) => ({
      instance_id: owner.id,
      seq: event.seq,
      shard: owner.shard,
      kind: event.kind,
      token_id: event.tokenId,
      node: event.node,
      actor: origin.actor,
      request_id: origin.requestId,
      at: sqlTime(origin.at),
      data: event.data === null ? null : sqlText(JSON.stringify(event.data)),
    }));
    await insertRows(manager, 'process_events', rows);
  }

  /** Events after a number, oldest first. */
  async after(manager: EntityManager, instanceId: number, seq: number, limit: number): Promise<EventRow[]> {
    // In the order of the primary key, so that no server has to sort.
    const rows = await manager.query<RawRow[]>(
      `SELECT ${COLUMNS} FROM process_events WHERE instance_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
      [instanceId, seq, limit],
    );
    return rows.map(toEvent);
  }

  /** Events before a number, newest first. */
  async before(manager: EntityManager, instanceId: number, seq: number, limit: number): Promise<EventRow[]> {
    const rows = await manager.query<RawRow[]>(
      `SELECT ${COLUMNS} FROM process_events WHERE instance_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
      [instanceId, seq, limit],
    );
    return rows.map(toEvent);
  }
}

function toEvent(row: RawRow): EventRow {
  return {
    seq: Number(row['seq']),
    kind: row['kind'] as ProcessEventKind,
    tokenId: row['token_id'] === null ? null : toSafeInteger(row['token_id']),
    node: row['node'] === null ? null : Number(row['node']),
    actor: row['actor'] as string | null,
    requestId: row['request_id'] as string | null,
    at: toDate(row['at']),
    data: row['data'] === null ? null : (JSON.parse(toStoredText(row['data'])) as JsonObject),
  };
}
