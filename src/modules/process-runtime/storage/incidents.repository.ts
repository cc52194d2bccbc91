import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { toDate, type RawRow } from '../../../database/raw-row.js';
import { toSafeInteger } from '../../../database/safe-integer.js';
import { toStoredText } from '../../../database/stored-text.js';
import type { IncidentSource, IncidentType } from '../engine/state/engine.types.js';
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
  /** The background job that failed for good, or the start of the instance; null when a caller's request did. */
  job: ParkedJob | null;
  /** Names what stopped, see `workKeyOf`: one open incident for each. */
  workKey: string;
  requestId: string | null;
  raisedAt: Date;
  closedAt: Date | null;
}

/** An incident without the job, which may be large. */
export type IncidentHead = Omit<IncidentRow, 'job'>;

const HEAD_COLUMNS = `id, uuid, state, source, type, message, token_id, visit, node, action_svc_uuid, work_key, request_id, raised_at,
  closed_at`;
const COLUMNS = `${HEAD_COLUMNS}, job`;
const MESSAGE_MAX_LENGTH = 2_000;
/** Kind of the job with which a called process answers. */
const ANSWER = 'NOTIFY_PARENT';

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
      work_key: incident.workKey,
      request_id: incident.requestId,
      raised_at: sqlTime(incident.raisedAt),
      closed_at: null,
    };
    await insertRows(manager, 'process_incidents', [row]);
  }

  /** What an open incident tells now: the same work has failed once more. */
  async refresh(manager: EntityManager, id: number, incident: IncidentRow): Promise<void> {
    const { source, type, message, node, actionSvcUuid, requestId, raisedAt } = incident;
    await change(
      manager,
      `UPDATE process_incidents SET source = ?, type = ?, message = ?, node = ?, action_svc_uuid = ?, request_id = ?, raised_at = ?
       WHERE id = ?`,
      [source, type, cut(message), node, actionSvcUuid, requestId, sqlTime(raisedAt), id],
    );
  }

  /** The open incidents of an instance, oldest first. */
  async open(manager: EntityManager, instanceId: number): Promise<IncidentHead[]> {
    const rows = await manager.query<RawRow[]>(
      `SELECT ${HEAD_COLUMNS} FROM process_incidents WHERE instance_id = ? AND state = ?`,
      [instanceId, 'OPEN'],
    );
    return rows.map(toHead).toSorted(byAge);
  }

  /** Ids of the called processes whose answers stopped an instance, by the id of the open incident. */
  async childrenOfOpen(manager: EntityManager, instanceId: number): Promise<Map<number, number>> {
    // Only answers are read: work of other kinds may be as large as process data.
    const rows = await manager.query<RawRow[]>(
      `SELECT id, job FROM process_incidents WHERE instance_id = ? AND state = ? AND source = ? AND job LIKE ?`,
      [instanceId, 'OPEN', 'SUBPROCESS', `%${ANSWER}%`],
    );
    const answers = rows.map((row) => ({ id: toSafeInteger(row['id']), job: toJob(row['job']) }));
    return new Map(
      answers.flatMap(({ id, job }) =>
        job?.kind === ANSWER && job.instanceId !== null ? [[id, job.instanceId]] : [],
      ),
    );
  }

  /** The open incidents of these tokens, oldest first. */
  async openOfTokens(
    manager: EntityManager,
    instanceId: number,
    tokenIds: readonly number[],
  ): Promise<IncidentHead[]> {
    if (tokenIds.length === 0) {
      return [];
    }
    const rows = await manager.query<RawRow[]>(
      `SELECT ${HEAD_COLUMNS} FROM process_incidents
       WHERE instance_id = ? AND state = ? AND token_id IN (${placeholders(tokenIds)})`,
      [instanceId, 'OPEN', ...tokenIds],
    );
    return rows.map(toHead).toSorted(byAge);
  }

  /**
   * The open incidents of a token's visit with their jobs, oldest first.
   * @param place null for those that are about the whole instance
   */
  async openAt(
    manager: EntityManager,
    instanceId: number,
    place: { tokenId: number; visit: number } | null,
  ): Promise<IncidentRow[]> {
    const at = place === null ? 'token_id IS NULL' : 'token_id = ? AND visit = ?';
    const rows = await manager.query<RawRow[]>(
      `SELECT ${COLUMNS} FROM process_incidents WHERE instance_id = ? AND state = ? AND ${at}`,
      [instanceId, 'OPEN', ...(place === null ? [] : [place.tokenId, place.visit])],
    );
    return rows.map(toIncident).toSorted(byAge);
  }

  /** The open incident of this work; null when there is none. */
  async openOf(manager: EntityManager, instanceId: number, workKey: string): Promise<IncidentHead | null> {
    const rows = await manager.query<RawRow[]>(
      `SELECT ${HEAD_COLUMNS} FROM process_incidents WHERE instance_id = ? AND state = ? AND work_key = ?`,
      [instanceId, 'OPEN', workKey],
    );
    return rows[0] === undefined ? null : toHead(rows[0]);
  }

  /** Which of these incidents are still open. */
  async stillOpen<Row extends IncidentHead>(
    manager: EntityManager,
    incidents: readonly Row[],
  ): Promise<Row[]> {
    if (incidents.length === 0) {
      return [];
    }
    const ids = incidents.map(({ id }) => id);
    const rows = await manager.query<RawRow[]>(
      `SELECT id FROM process_incidents WHERE state = ? AND id IN (${placeholders(ids)})`,
      ['OPEN', ...ids],
    );
    const open = new Set(rows.map((row) => toSafeInteger(row['id'])));
    return incidents.filter(({ id }) => open.has(id));
  }

  /** Ends incidents. What was to be run again holds process data, and nothing asks for it any more. */
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
        `UPDATE process_incidents SET state = ?, closed_at = ?, job = NULL WHERE id IN (${placeholders(ids)})`,
        values,
      );
    }
  }
}

/** To what the column holds, counted by code points. */
function cut(message: string): string {
  return Array.from(message.replace(/\p{Cs}/gu, '\ufffd'))
    .slice(0, MESSAGE_MAX_LENGTH)
    .join('');
}

function byAge(one: IncidentHead, other: IncidentHead): number {
  return one.id - other.id;
}

function toIncident(row: RawRow): IncidentRow {
  return { ...toHead(row), job: toJob(row['job']) };
}

function toJob(stored: unknown): ParkedJob | null {
  return stored === null ? null : (JSON.parse(toStoredText(stored)) as ParkedJob);
}

function toHead(row: RawRow): IncidentHead {
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
    workKey: row['work_key'] as string,
    requestId: row['request_id'] as string | null,
    raisedAt: toDate(row['raised_at']),
    closedAt: row['closed_at'] === null ? null : toDate(row['closed_at']),
  };
}

function orNull(id: unknown): number | null {
  return id === null ? null : toSafeInteger(id);
}
