import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { toDate, type RawRow } from '../../../database/raw-row.js';
import { toSafeInteger } from '../../../database/safe-integer.js';
import { toStoredText } from '../../../database/stored-text.js';
import type { IncidentSource, IncidentType } from '../engine/engine.types.js';
import type { ParkedJob } from './instance.row.js';
import { change, insertRows, placeholders, sqlText, sqlTime, type SqlValue } from './sql.js';

/** What became of an incident. */
export type IncidentState = 'OPEN' | 'RESOLVED' | 'RETRIED';

/** Why an instance stopped. */
export interface IncidentRow {
  id: number;
  uuid: string;
  state: IncidentState;
  source: IncidentSource;
  type: IncidentType;
  message: string;
  /** Token and visit that it stopped; null when it is about the whole instance. */
  tokenId: number | null;
  visit: number | null;
  node: number | null;
  actionSvcUuid: string | null;
  /** The background job that failed for good; null when a caller's request did. */
  job: ParkedJob | null;
  requestId: string | null;
  raisedAt: Date;
  closedAt: Date | null;
}

const COLUMNS = `id, uuid, state, source, type, message, token_id, visit, node, action_svc_uuid, job, request_id, raised_at,
  closed_at`;
const MESSAGE_MAX_LENGTH = 2_000;

/** Incidents of instances. */
@Injectable()
export class IncidentsRepository {
  async insert(
    manager: EntityManager,
    owner: { id: number; shard: number },
    incident: IncidentRow,
  ): Promise<void> {
    const row = {
      id: incident.id,
      uuid: incident.uuid,
      shard: owner.shard,
      instance_id: owner.id,
      state: incident.state,
      source: incident.source,
      type: incident.type,
      message: cut(incident.message),
      token_id: incident.tokenId,
      visit: incident.visit,
      node: incident.node,
      action_svc_uuid: incident.actionSvcUuid,
      job: incident.job === null ? null : sqlText(JSON.stringify(incident.job)),
      request_id: incident.requestId,
      raised_at: sqlTime(incident.raisedAt),
      closed_at: null,
    };
    await insertRows(manager, 'process_incidents', [row]);
  }

  /** The newest incidents of an instance, newest first. */
  async newest(manager: EntityManager, instanceId: number, limit: number): Promise<IncidentRow[]> {
    const ids = await manager.query<RawRow[]>(
      'SELECT id FROM process_incidents WHERE instance_id = ? ORDER BY id DESC LIMIT ?',
      [instanceId, limit],
    );
    return this.byIds(
      manager,
      ids.map((row) => toSafeInteger(row['id'])),
    );
  }

  /** The open incidents of an instance, oldest first. */
  async open(manager: EntityManager, instanceId: number): Promise<IncidentRow[]> {
    const rows = await manager.query<RawRow[]>(
      `SELECT ${COLUMNS} FROM process_incidents WHERE instance_id = ? AND state = ?`,
      [instanceId, 'OPEN'],
    );
    return rows.map(toIncident).toSorted((one, other) => one.id - other.id);
  }

  async close(
    manager: EntityManager,
    ids: readonly number[],
    state: IncidentState,
    now: Date,
  ): Promise<void> {
    if (ids.length > 0) {
      const values: SqlValue[] = [state, sqlTime(now), ...ids];
      await change(
        manager,
        `UPDATE process_incidents SET state = ?, closed_at = ? WHERE id IN (${placeholders(ids)})`,
        values,
      );
    }
  }

  private async byIds(manager: EntityManager, ids: readonly number[]): Promise<IncidentRow[]> {
    if (ids.length === 0) {
      return [];
    }
    const rows = await manager.query<RawRow[]>(
      `SELECT ${COLUMNS} FROM process_incidents WHERE id IN (${placeholders(ids)})`,
      [...ids],
    );
    return rows.map(toIncident).toSorted((one, other) => other.id - one.id);
  }
}

/** To what the column holds, counted by code points. */
function cut(message: string): string {
  return Array.from(message.replace(/\p{Cs}/gu, '\ufffd'))
    .slice(0, MESSAGE_MAX_LENGTH)
    .join('');
}

function toIncident(row: RawRow): IncidentRow {
  return {
    id: toSafeInteger(row['id']),
    uuid: row['uuid'] as string,
    state: row['state'] as IncidentState,
    source: row['source'] as IncidentSource,
    type: row['type'] as IncidentType,
    message: row['message'] as string,
    tokenId: orNull(row['token_id']),
    visit: row['visit'] === null ? null : Number(row['visit']),
    node: row['node'] === null ? null : Number(row['node']),
    actionSvcUuid: row['action_svc_uuid'] as string | null,
    job: row['job'] === null ? null : (JSON.parse(toStoredText(row['job'])) as ParkedJob),
    requestId: row['request_id'] as string | null,
    raisedAt: toDate(row['raised_at']),
    closedAt: row['closed_at'] === null ? null : toDate(row['closed_at']),
  };
}

function orNull(id: unknown): number | null {
  return id === null ? null : toSafeInteger(id);
}
