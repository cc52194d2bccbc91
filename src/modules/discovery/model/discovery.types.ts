import type { PageQuery } from '../../../common/page.js';
import type { TimeRange } from '../../../database/conditions.js';
import type { ComponentMap } from './component.types.js';
import type { ProbeFailure } from './probe.error.js';
import type { ChangeEvent, ComponentStatus, DiscoveryResult } from './scan.types.js';

/** A completed scan in the history. */
export interface StoredScan {
  /** Number of the scan: a later one has a higher number, and there may be gaps. */
  id: number;
  startedAt: Date;
  finishedAt: Date;
  /** User name of the caller who came first. */
  requestedBy: string;
  durationMs: number;
  totalServices: number;
  healthyServices: number;
  newServices: number;
  configurationChanges: number;
  issues: number;
}

/** A completed scan with its answer. */
export interface StoredScanDetails extends StoredScan {
  result: DiscoveryResult;
}

/** One thing that a scan found different from the scan before it. */
export interface StoredChange {
  id: number;
  scanId: number;
  noticedAt: Date;
  componentMap: ComponentMap;
  componentKey: string;
  event: ChangeEvent;
  status: ComponentStatus | null;
  failure: ProbeFailure | null;
}

/** Which part of the history is wanted, newest first, by when scans were completed. */
export type HistoryQuery = PageQuery<number> & TimeRange;

/** Which changes are wanted, newest first. */
export interface ChangesQuery extends HistoryQuery {
  /** Of components with this key, in any map. */
  key?: string;
}
