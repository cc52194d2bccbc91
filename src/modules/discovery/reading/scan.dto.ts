import { ApiProperty } from '@nestjs/swagger';
import type { HistoryPage, StoredScan, StoredScanDetails } from '../model/discovery.types.js';
import { DiscoveryResultDto, toDiscoveryResult } from './discovery-result.dto.js';

/** A completed scan. */
export class ScanDto {
  @ApiProperty({
    type: 'integer',
    description: 'Number of the scan. Later scans have higher ones; scans that failed leave gaps.',
    example: 17,
  })
  id: number;

  @ApiProperty({ format: 'date-time', description: 'When it began.', example: '2026-01-31T10:20:30.123Z' })
  startedAt: string;

  @ApiProperty({
    format: 'date-time',
    description: 'When it was completed: `scanTimestamp` of its result.',
    example: '2026-01-31T10:20:32.423Z',
  })
  finishedAt: string;

  @ApiProperty({ description: 'User name of the caller who came first.', example: 'jane.doe' })
  requestedBy: string;

  @ApiProperty({ type: 'integer', description: 'How long it took.', example: 2300 })
  durationMs: number;

  @ApiProperty({ type: 'integer', description: 'Services discovered.', example: 2 })
  totalServices: number;

  @ApiProperty({ type: 'integer', description: 'Of these, healthy.', example: 1 })
  healthyServices: number;

  @ApiProperty({ type: 'integer', description: 'Of these, unhealthy.', example: 1 })
  unhealthyServices: number;

  @ApiProperty({ type: 'integer', description: 'Services that the scan before did not find.', example: 0 })
  newServicesFound: number;

  @ApiProperty({ type: 'integer', description: 'Components that changed or went.', example: 1 })
  configurationChanges: number;

  @ApiProperty({ type: 'integer', description: 'Issues, each with one recommendation.', example: 1 })
  issuesDetected: number;
}

/** A completed scan with what its callers were answered. */
export class ScanDetailsDto extends ScanDto {
  @ApiProperty({ type: () => DiscoveryResultDto, description: 'What its callers were answered.' })
  result: DiscoveryResultDto;
}

/** A page of scans. */
export class ScansPageDto {
  @ApiProperty({ type: () => [ScanDto], description: 'Newest first.' })
  scans: ScanDto[];

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Give it as `before` to read on; null on the last page.',
    example: null,
  })
  next: number | null;
}

export function toScansPage({ items, next }: HistoryPage<StoredScan>): ScansPageDto {
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
