import { Injectable } from '@nestjs/common';
import type {
  ChangesQuery,
  HistoryPage,
  HistoryQuery,
  StoredChange,
  StoredScan,
  StoredScanDetails,
} from '../model/discovery.types.js';
import { ScanNotFoundError } from '../model/discovery.errors.js';
import { ScanCoordinator } from '../scan/scan-coordinator.js';
import type { DiscoveryResult } from '../model/scan.types.js';
import { ScanStore } from '../storage/scan-store.js';

/** Rescans the platform and shows the scans there were (docs/contract.md, section 3.1). */
@Injectable()
export class DiscoveryService {
  constructor(
    private readonly coordinator: ScanCoordinator,
    private readonly store: ScanStore,
  ) {}

  /**
   * A scan that began after this call, perhaps shared with others who called before it began.
   * @param requestedBy user name of the caller
   * @throws ScanTimeoutError, ScanStoppedError
   */
  async scan(requestedBy: string): Promise<DiscoveryResult> {
    return this.coordinator.scan(requestedBy);
  }

  /** Completed scans, newest first, DISCOVERY_SCANS_KEPT of them. */
  async scans(query: HistoryQuery): Promise<HistoryPage<StoredScan>> {
    return this.store.scans(query);
  }

  /** @throws ScanNotFoundError */
  async scanById(id: number): Promise<StoredScanDetails> {
    const scan = await this.store.findById(id);
    if (scan === null) {
      throw new ScanNotFoundError();
    }
    return scan;
  }

  /** What scans found different from the scans before them, newest first. */
  async changes(query: ChangesQuery): Promise<HistoryPage<StoredChange>> {
    return this.store.changes(query);
  }
}
