import type { Page } from '../../../common/page.js';
import { NEXT_PAGE, Shows } from '../../../common/answer-fields.decorators.js';
import type { StoredScan, StoredScanDetails } from '../model/discovery.types.js';
import { DiscoveryResultDto, toDiscoveryResult } from './discovery-result.dto.js';

/** A completed scan. */
export class ScanDto {
  @Shows.number('Number of the scan. Later scans have higher ones; scans that failed leave gaps.', 17)
  id: number;

  @Shows.moment('When it began.', '2026-01-31T10:20:30.123Z')
  startedAt: string;

  @Shows.moment('When it was completed: `scanTimestamp` of its result.', '2026-01-31T10:20:32.423Z')
  finishedAt: string;

  @Shows.value('User name of the caller who came first.', 'jane.doe')
  requestedBy: string;

  @Shows.number('How long it took.', 2300)
  durationMs: number;

  @Shows.number('Services discovered.', 2)
  totalServices: number;

  @Shows.number('Of these, healthy.', 1)
  healthyServices: number;

  @Shows.number('Of these, unhealthy.', 1)
  unhealthyServices: number;

  @Shows.number('Services that the scan before did not find.', 0)
  newServicesFound: number;

  @Shows.number('Components that changed or went.', 1)
  configurationChanges: number;

  @Shows.number('Issues, each with one recommendation.', 1)
  issuesDetected: number;
}

/** A completed scan with what its callers were answered. */
export class ScanDetailsDto extends ScanDto {
  @Shows.part(() => DiscoveryResultDto, 'What its callers were answered.')
  result: DiscoveryResultDto;
}

/** A page of scans. */
export class ScansPageDto {
  @Shows.list(() => ScanDto, 'Newest first.')
  scans: ScanDto[];

  @Shows.numberOrNull(NEXT_PAGE, null)
  next: number | null;
}

export function toScansPage({ items, next }: Page<StoredScan, number>): ScansPageDto {
  return { scans: items.map(toScan), next };
}

export function toScanDetails(scan: StoredScanDetails): ScanDetailsDto {
  return { ...toScan(scan), result: toDiscoveryResult(scan.result) };
}

function toScan(scan: StoredScan): ScanDto {
  return {
    id: scan.id,
    startedAt: scan.startedAt.toISOString(),
    finishedAt: scan.finishedAt.toISOString(),
    requestedBy: scan.requestedBy,
    durationMs: scan.durationMs,
    totalServices: scan.totalServices,
    healthyServices: scan.healthyServices,
    unhealthyServices: scan.totalServices - scan.healthyServices,
    newServicesFound: scan.newServices,
    configurationChanges: scan.configurationChanges,
    issuesDetected: scan.issues,
  };
}
