import { Injectable } from '@nestjs/common';
import { LessThan, MoreThan, type EntityManager } from 'typeorm';
import type { ChangesQuery, HistoryQuery, StoredChange, StoredScan } from '../model/discovery.types.js';
import { DiscoveryChangeEntity } from './discovery-change.entity.js';
import { DiscoveryScanEntity } from './discovery-scan.entity.js';
import { REGISTRATION_PREFIXES } from '../findings/seen-by.js';
import { inParts } from '../../../database/statement-batches.js';

/** Rows of one insert; databases bound the values of a statement. */
const ROWS_OF_AN_INSERT = 500;

/** What a list shows of a scan: without its answer, which may be large. */
const LISTED = {
  id: true,
  startedAt: true,
  finishedAt: true,
  requestedBy: true,
  durationMs: true,
  totalServices: true,
  healthyServices: true,
  newServices: true,
  configurationChanges: true,
  issues: true,
} as const satisfies Record<keyof StoredScan, true>;

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
  async scans(manager: EntityManager, { before }: HistoryQuery, limit: number): Promise<StoredScan[]> {
    return manager.find(DiscoveryScanEntity, {
      select: LISTED,
      where: before === undefined ? {} : { id: LessThan(before) },
      order: { id: 'DESC' },
      take: limit,
    });
  }

  /**
   * Changes, newest first, at most `limit`.
   * @param registered of components whose keys could be those of registrations only these; null for all
   */
  async changes(
    manager: EntityManager,
    { before, key }: ChangesQuery,
    registered: readonly string[] | null,
    limit: number,
  ): Promise<StoredChange[]> {
    const select = manager
      .createQueryBuilder(DiscoveryChangeEntity, 'one')
      .where({
        ...(before === undefined ? {} : { id: LessThan(before) }),
        ...(key === undefined ? {} : { componentKey: key }),
      })
      .orderBy('one.id', 'DESC')
      .limit(limit);
    if (registered !== null) {
      const others = REGISTRATION_PREFIXES.map((prefix) => `one.componentKey NOT LIKE '${prefix}%'`);
      const theirs = registered.length === 0 ? '' : ' OR one.componentKey IN (:...registered)';
      select.andWhere(`((${others.join(' AND ')})${theirs})`, { registered });
    }
    return select.getMany();
  }
}
