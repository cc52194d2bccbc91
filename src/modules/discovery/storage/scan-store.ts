import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { readPage, type Page } from '../../../common/page.js';
import { Database } from '../../../database/database.js';
import type {
  ChangesQuery,
  HistoryQuery,
  StoredChange,
  StoredScan,
  StoredScanDetails,
} from '../model/discovery.types.js';
import { ScanNotFoundError } from '../model/discovery.errors.js';
import type { Grant } from '../../../common/user/grant.js';
import { isKeyOfRegistration, seenBy } from '../findings/seen-by.js';
import { answerOf } from '../findings/answer.js';
import type { DiscoveryResult, ScanFindings } from '../model/scan.types.js';
import { compare, type Comparison } from '../findings/snapshot.js';
import type { DiscoveryChangeEntity } from './discovery-change.entity.js';
import type { DiscoveryScanEntity } from './discovery-scan.entity.js';
import { ScanHistoryRepository } from './scan-history.repository.js';
import { ScanTurnsRepository } from './scan-turns.repository.js';
import { discoveryLimits } from '../discovery.limits.js';
import { pageLimits } from '../../../common/validation/page.limits.js';

/** Ids that the changes of one scan have to themselves; a scan of 10,000 components has at most 30,000. */
const IDS_OF_A_SCAN = 100_000;

/** A scan that one replica made in its turn. */
export interface MadeScan {
  number: number;
  holder: string;
  requestedBy: string;
  findings: ScanFindings;
}

/** Completed scans: compared, stored and read again. */
@Injectable()
export class ScanStore {
  constructor(
    private readonly database: Database,
    private readonly turns: ScanTurnsRepository,
    private readonly history: ScanHistoryRepository,
  ) {}

  /**
   * Compares a scan with the last completed one and stores all of it in one transaction, which also ends the turn and
   * forgets the oldest of the history.
   * @throws ScanLostError when another replica scans meanwhile
   */
  async complete(scan: MadeScan): Promise<DiscoveryResult> {
    return this.database.write(async (manager) => {
      const previous = await this.turns.finish(manager, scan.holder);
      const comparison = compare(previous, scan.findings.components);
      const result = answerOf(scan.findings, comparison);
      await this.history.insert(manager, scanRow(scan, comparison, result), changeRows(scan, comparison));
      await this.turns.storeSnapshot(manager, comparison.snapshot);
      await this.history.keep(manager, {
        scans: discoveryLimits.scansKept,
        changes: discoveryLimits.changesKept,
      });
      return result;
    });
  }

  /** The newest completed scan with a number above this one; null when there is none. */
  async newestAfter(id: number): Promise<StoredScanDetails | null> {
    return withResult(await this.database.read((manager) => this.history.newestAfter(manager, id)));
  }

  /** @throws ScanNotFoundError */
  async byId(id: number): Promise<StoredScanDetails> {
    const scan = withResult(await this.database.read((manager) => this.history.findById(manager, id)));
    if (scan === null) {
      throw new ScanNotFoundError();
    }
    return scan;
  }

  /** Completed scans, newest first, `scansKept` of them. */
  async scans(query: HistoryQuery): Promise<Page<StoredScan, number>> {
    return this.page(query, (manager, limit) => this.history.scans(manager, query, limit));
  }

  /**
   * What scans found different from the scans before them, newest first.
   * @param grant applications whose registrations are wanted. A change of a registration does not tell its application, so those
   * count that the newest scan shows: registrations that are gone are told only to who sees all
   */
  async changes(query: ChangesQuery, grant: Grant): Promise<Page<StoredChange, number>> {
    const newest = grant === 'all' ? null : await this.newestAfter(0);
    const shown = newest && Object.keys(seenBy(grant, newest.result).externalIntegrations);
    const registered = grant === 'all' ? null : (shown ?? []).filter(isKeyOfRegistration);
    return this.page(query, (manager, limit) => this.history.changes(manager, query, registered, limit));
  }

  private async page<Item extends { id: number }>(
    { limit = pageLimits.size }: HistoryQuery,
    read: (manager: EntityManager, limit: number) => Promise<Item[]>,
  ): Promise<Page<Item, number>> {
    return readPage(
      limit,
      (rows) => this.database.read((manager) => read(manager, rows)),
      ({ id }) => id,
    );
  }
}

function withResult(row: DiscoveryScanEntity | null): StoredScanDetails | null {
  return row === null ? null : { ...row, result: JSON.parse(row.result) as DiscoveryResult };
}

function scanRow(
  { number, requestedBy, findings }: MadeScan,
  comparison: Comparison,
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
    newServices: comparison.newServices,
    configurationChanges: comparison.configurationChanges,
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
