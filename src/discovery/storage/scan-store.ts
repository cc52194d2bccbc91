import { Injectable } from '@nestjs/common';
import {
  And,
  Equal,
  In,
  LessThan,
  Like,
  MoreThan,
  Not,
  type EntityManager,
  type EntityTarget,
  type FindOperator,
} from 'typeorm';
import { type Page, type PageQuery, readPage } from '../../platform/validation/page.js';
import type { Grant } from '../../platform/user/grant.js';
import { pageLimits } from '../../platform/validation/page.limits.js';
import { Database } from '../../store/database.js';
import { inParts } from '../../store/tables/statement-batches.js';
import { type TimeRange, timesIn } from '../../store/tables/conditions.js';
import { discoveryLimits } from '../discovery.limits.js';
import { answerOf } from '../findings/answer.js';
import { isKeyOfRegistration, REGISTRATION_PREFIXES, seenBy } from '../findings/seen-by.js';
import { compare, type Comparison } from '../findings/snapshot.js';
import { ScanNotFoundError } from '../model/failures.js';
import type { DiscoveryResult, ScanFindings } from '../model/scan.types.js';
import { DiscoveryChangeEntity, DiscoveryScanEntity } from './discovery.entity.js';
import { ScanTurnsRepository } from './scan-turns.repository.js';

/** Range of ids reserved for the changes of a scan, which has at most 30,000 for 10,000 components. */
const IDS_OF_A_SCAN = 100_000;
/** Maximum number of rows per insert, since databases limit the values of a statement. */
const ROWS_OF_AN_INSERT = 500;

/** Without the result, which may be large. */
const SCAN = {
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

/** A completed scan in the history. */
export type StoredScan = Omit<DiscoveryScanEntity, 'result'>;

/** A completed scan with its result. */
export type StoredScanDetails = StoredScan & { result: DiscoveryResult };

/** Page and time range of the history, newest first, by completion time. */
type HistoryQuery = PageQuery<number> & TimeRange;

/** A scan that this replica made in its turn. */
export interface MadeScan {
  number: number;
  holder: string;
  requestedBy: string;
  findings: ScanFindings;
}

/** Compares, stores and reads completed scans. */
@Injectable()
export class ScanStore {
  constructor(
    private readonly database: Database,
    private readonly turns: ScanTurnsRepository,
  ) {}

  /**
   * Compares a scan with the last completed one and stores everything in one transaction, which also ends the turn and removes the oldest
   * history.
   * @throws ScanFailedError `DISCOVERY_LOST` when another replica has taken over
   */
  async complete(scan: MadeScan): Promise<DiscoveryResult> {
    return this.database.write(async (manager) => {
      const previous = await this.turns.finish(manager, scan.holder);
      const comparison = compare(previous, scan.findings.components);
      const result = answerOf(scan.findings, comparison);
      await manager.insert(DiscoveryScanEntity, scanRow(scan, comparison, result));
      for (const rows of inParts(changeRows(scan, comparison), ROWS_OF_AN_INSERT)) {
        await manager.insert(DiscoveryChangeEntity, rows);
      }
      await this.turns.storeSnapshot(manager, comparison.snapshot);
      await keepNewest(manager, DiscoveryScanEntity, discoveryLimits.scansKept);
      await keepNewest(manager, DiscoveryChangeEntity, discoveryLimits.changesKept);
      return result;
    });
  }

  /** Returns the newest completed scan with a higher number, or null when there is none. */
  async newestAfter(id: number): Promise<StoredScanDetails | null> {
    const row = await this.database.read((manager) =>
      manager.findOne(DiscoveryScanEntity, { where: { id: MoreThan(id) }, order: { id: 'DESC' } }),
    );
    return row && withResult(row);
  }

  /** @throws ScanNotFoundError */
  async byId(id: number): Promise<StoredScanDetails> {
    const row = await this.database.read((manager) => manager.findOneBy(DiscoveryScanEntity, { id }));
    if (row === null) {
      throw new ScanNotFoundError();
    }
    return withResult(row);
  }

  /** Returns completed scans, newest first, at most `scansKept`. */
  async scans(query: HistoryQuery): Promise<Page<StoredScan, number>> {
    const times = timesIn(query);
    const where = { ...olderThan(query), ...(times.length > 0 && { finishedAt: And(...times) }) };
    return this.page(query, (manager, take) =>
      manager.find(DiscoveryScanEntity, { select: SCAN, where, order: { id: 'DESC' }, take }),
    );
  }

  /**
   * Returns changes between scans, newest first.
   * @param grant applications whose registrations are visible: only changes of registrations in the newest scan are returned for them
   */
  async changes(
    query: HistoryQuery & { key?: string },
    grant: Grant,
  ): Promise<Page<DiscoveryChangeEntity, number>> {
    const shown = grant === 'all' ? [[]] : await this.keysFor(grant);
    const wanted = query.key === undefined ? [] : [Equal(query.key)];
    const times = timesIn(query);
    const where = shown.map((keys) => ({
      ...olderThan(query),
      ...(keys.length + wanted.length > 0 && { componentKey: And(...keys, ...wanted) }),
      ...(times.length > 0 && { noticedAt: And(...times) }),
    }));
    return this.page(query, (manager, take) =>
      manager.find(DiscoveryChangeEntity, { where, order: { id: 'DESC' }, take }),
    );
  }

  /** Alternatives for the keys of components: not of a registration, or of one that these applications see. */
  private async keysFor(grant: Grant): Promise<FindOperator<string>[][]> {
    const newest = await this.newestAfter(0);
    const shown = newest === null ? [] : Object.keys(seenBy(grant, newest.result).externalIntegrations);
    const others = REGISTRATION_PREFIXES.map((prefix) => Not(Like(`${prefix}%`)));
    return [others, [In(shown.filter(isKeyOfRegistration))]];
  }

  private async page<Item extends { id: number }>(
    { limit = pageLimits.size }: HistoryQuery,
    read: (manager: EntityManager, limit: number) => Promise<Item[]>,
  ): Promise<Page<Item, number>> {
    const rows = (most: number) => this.database.read((manager) => read(manager, most));
    return readPage(limit, rows, ({ id }) => id);
  }
}

/** Deletes all but the newest rows. */
async function keepNewest(
  manager: EntityManager,
  entity: EntityTarget<{ id: number }>,
  count: number,
): Promise<void> {
  const newest = { select: { id: true }, order: { id: 'DESC' }, skip: count - 1, take: 1 } as const;
  const [oldest] = await manager.find(entity, newest);
  if (oldest !== undefined) {
    await manager.delete(entity, { id: LessThan(oldest.id) });
  }
}

function olderThan({ before }: HistoryQuery) {
  return before === undefined ? {} : { id: LessThan(before) };
}

function withResult(row: DiscoveryScanEntity): StoredScanDetails {
  return { ...row, result: JSON.parse(row.result) as DiscoveryResult };
}

function scanRow(
  { number, requestedBy, findings }: MadeScan,
  { newServices, configurationChanges }: Comparison,
  result: DiscoveryResult,
): DiscoveryScanEntity {
  return {
    id: number,
    startedAt: findings.startedAt,
    finishedAt: findings.finishedAt,
    requestedBy,
    durationMs: Math.round(findings.durationMs),
    totalServices: result.totalServices,
    healthyServices: result.healthyServices,
    newServices,
    configurationChanges,
    issues: result.summary.issuesDetected,
    result: JSON.stringify(result),
  };
}

function changeRows({ number, findings }: MadeScan, { changes }: Comparison): DiscoveryChangeEntity[] {
  return changes.map(({ component, event, status, failure }, index) => ({
    id: number * IDS_OF_A_SCAN + index,
    scanId: number,
    noticedAt: findings.finishedAt,
    componentMap: component.map,
    componentKey: component.key,
    event,
    status,
    failure,
  }));
}
