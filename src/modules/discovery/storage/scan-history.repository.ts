import { Injectable } from '@nestjs/common';
import { And, LessThan, MoreThan, type EntityManager, type FindOperator } from 'typeorm';
import { type Condition, timesIn } from '../../../database/conditions.js';
import { Table } from '../../../database/table.js';
import type { ChangesQuery, HistoryQuery, StoredChange, StoredScan } from '../model/discovery.types.js';
import { DiscoveryChangeEntity } from './discovery-change.entity.js';
import { DiscoveryScanEntity } from './discovery-scan.entity.js';
import { REGISTRATION_PREFIXES } from '../findings/seen-by.js';
import { inParts } from '../../../database/statement-batches.js';

/** Rows of one insert; databases bound the values of a statement. */
const ROWS_OF_AN_INSERT = 500;

/** Without its answer, which may be large. */
const SCANS = new Table(DiscoveryScanEntity).selectAllBut('result');
const CHANGES = new Table(DiscoveryChangeEntity).selectAllBut();

/** Rows of completed scans and of what changed in them. */
@Injectable()
export class ScanHistoryRepository {
  async insert(
    manager: EntityManager,
    scan: DiscoveryScanEntity,
    changes: readonly DiscoveryChangeEntity[],
  ): Promise<void> {
    await manager.insert(DiscoveryScanEntity, scan);
    for (const some of inParts(changes, ROWS_OF_AN_INSERT)) {
      await manager.insert(DiscoveryChangeEntity, some);
    }
  }

  /** Deletes all but the newest rows. */
  async keep(manager: EntityManager, { scans, changes }: { scans: number; changes: number }): Promise<void> {
    const [scan] = await manager.find(DiscoveryScanEntity, {
      select: { id: true },
      order: { id: 'DESC' },
      skip: scans - 1,
      take: 1,
    });
    const [change] = await manager.find(DiscoveryChangeEntity, {
      select: { id: true },
      order: { id: 'DESC' },
      skip: changes - 1,
      take: 1,
    });
    if (scan !== undefined) {
      await manager.delete(DiscoveryScanEntity, { id: LessThan(scan.id) });
    }
    if (change !== undefined) {
      await manager.delete(DiscoveryChangeEntity, { id: LessThan(change.id) });
    }
  }

  /** The newest completed scan with a number above this one. */
  async newestAfter(manager: EntityManager, id: number): Promise<DiscoveryScanEntity | null> {
    return manager.findOne(DiscoveryScanEntity, { where: { id: MoreThan(id) }, order: { id: 'DESC' } });
  }

  async findById(manager: EntityManager, id: number): Promise<DiscoveryScanEntity | null> {
    return manager.findOneBy(DiscoveryScanEntity, { id });
  }

  /** Scans, newest first, at most `limit`. */
  async scans(manager: EntityManager, query: HistoryQuery, limit: number): Promise<StoredScan[]> {
    const times = timesIn(query);
    const where = { ...behind(query), ...(times.length > 0 && { finishedAt: And(...times) }) };
    return SCANS.find(manager, where, { order: { id: 'DESC' }, limit });
  }

  /**
   * Changes, newest first, at most `limit`.
   * @param registered of components whose keys could be those of registrations only these; null for all
   */
  async changes(
    manager: EntityManager,
    query: ChangesQuery,
    registered: readonly string[] | null,
    limit: number,
  ): Promise<StoredChange[]> {
    const { key } = query;
    const times = timesIn(query);
    const where = {
      ...behind(query),
      ...(key !== undefined && { componentKey: key }),
      ...(times.length > 0 && { noticedAt: And(...times) }),
    };
    const and = registered === null ? undefined : notOfOthers(registered);
    return CHANGES.find(manager, where, { order: { id: 'DESC' }, limit, and });
  }
}

function behind({ before }: HistoryQuery): { id?: FindOperator<number> } {
  return before === undefined ? {} : { id: LessThan(before) };
}

function notOfOthers(registered: readonly string[]): Condition {
  const others = REGISTRATION_PREFIXES.map((prefix) => `component_key NOT LIKE '${prefix}%'`).join(' AND ');
  const places = registered.map(() => '?').join(', ');
  const theirs = registered.length === 0 ? '' : ` OR component_key IN (${places})`;
  return { sql: `((${others})${theirs})`, values: [...registered] };
}
