import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { RawRow } from '../../../database/raw-row.js';
import { toSafeInteger } from '../../../database/safe-integer.js';
import type { InstanceStatus } from '../engine/state/engine.types.js';
import type { InstanceQuery } from '../model/process-instances.types.js';
import type { InstanceHead } from './instance.row.js';
import { InstancesRepository } from './instances.repository.js';
import { placeholders, type SqlValue } from './sql.js';
import { inParts } from '../../../database/statement-batches.js';

/** What narrows a list: column, comparison and value. */
type Condition = [column: string, comparison: '=' | '<' | '>=', value: SqlValue];

const IDS_PER_STATEMENT = 500;

/** Lists of instances, newest first: their uuids begin with the time of the start. */
@Injectable()
export class InstanceListsRepository {
  constructor(private readonly instances: InstancesRepository) {}

  /**
   * @param starter only those that this caller started; null for all
   * @param limit how many at the most
   */
  async page(
    manager: EntityManager,
    query: InstanceQuery,
    starter: string | null,
    limit: number,
  ): Promise<InstanceHead[]> {
    const conditions = conditionsOf(query, starter);
    const { parentProcessInstanceUuid } = query;
    if (parentProcessInstanceUuid !== undefined) {
      const parent = await this.instances.findHead(manager, { uuid: parentProcessInstanceUuid });
      conditions.push(['parent_id', '=', parent?.id ?? -1]);
    }
    const where = conditions.map(([column, comparison]) => `${column} ${comparison} ?`).join(' AND ');
    // Ids first: a server would have to sort rows with long texts.
    const rows = await manager.query<RawRow[]>(
      `SELECT id FROM process_instances ${where === '' ? '' : `WHERE ${where}`} ORDER BY uuid DESC LIMIT ?`,
      [...conditions.map(([, , value]) => value), limit],
    );
    const heads = await this.instances.heads(
      manager,
      rows.map(({ id }) => toSafeInteger(id)),
    );
    return heads.toSorted((one, other) => (one.uuid < other.uuid ? 1 : -1));
  }

  /** How far instances are, in no order. */
  async revisions(
    manager: EntityManager,
    ids: readonly number[],
  ): Promise<{ id: number; rev: number; state: InstanceStatus }[]> {
    const found: { id: number; rev: number; state: InstanceStatus }[] = [];
    for (const part of inParts(ids, IDS_PER_STATEMENT)) {
      const rows = await manager.query<RawRow[]>(
        `SELECT id, rev, state FROM process_instances WHERE id IN (${placeholders(part)})`,
        part,
      );
      found.push(
        ...rows.map(({ id, rev, state }) => ({
          id: toSafeInteger(id),
          rev: Number(rev),
          state: state as InstanceStatus,
        })),
      );
    }
    return found;
  }
}

function conditionsOf(query: InstanceQuery, starter: string | null): Condition[] {
  const { applicationId, processDefinitionName, state, startedFrom, startedTo, before } = query;
  const given: [string, Condition[1], SqlValue | undefined][] = [
    ['starter', '=', starter ?? undefined],
    ['app_id', '=', applicationId],
    ['process_name', '=', processDefinitionName],
    ['state', '=', state],
    ['uuid', '>=', startedFrom && firstUuidAt(startedFrom)],
    ['uuid', '<', startedTo && firstUuidAt(startedTo)],
    ['uuid', '<', before],
  ];
  return given.filter((condition): condition is Condition => condition[2] !== undefined);
}

/** The least UUID version 7 of a time (RFC 9562, section 5.7): its first 48 bits are the milliseconds. */
function firstUuidAt(time: Date): string {
  const digits = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-7000-8000-000000000000`;
}
