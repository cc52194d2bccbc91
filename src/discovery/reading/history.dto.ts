import type { Page } from '../../platform/validation/page.js';
import {
  Answer,
  AnswerWith,
  Shows,
  shows,
  NEXT_PAGE,
} from '../../platform/openapi/answer-fields.decorators.js';
import type { DiscoveryChangeEntity } from '../storage/discovery.entity.js';
import type { StoredScan, StoredScanDetails } from '../storage/scan-store.js';
import { DiscoveryResultDto } from '../model/discovery-result.dto.js';
import type { ComponentStatus } from '../model/component.types.js';
import { PROBE_FAILURES } from '../model/failures.js';
import { CHANGE_EVENTS, type DiscoveryResult } from '../model/scan.types.js';

export class ScanDto extends Answer({
  id: Shows.number('Number of the scan. Later scans have higher numbers; failed scans leave gaps.', 17),
  startedAt: Shows.moment('Start time.', '2026-01-31T10:20:30.123Z'),
  finishedAt: Shows.moment('Completion time: `scanTimestamp` of its result.', '2026-01-31T10:20:32.423Z'),
  requestedBy: Shows.value('User name of the first caller.', 'jane.doe'),
  durationMs: Shows.number('Duration in milliseconds.', 2300),
  totalServices: Shows.number('Discovered services.', 2),
  healthyServices: Shows.number('Healthy services.', 1),
  unhealthyServices: Shows.number('Unhealthy services.', 1),
  newServicesFound: Shows.number('Services that the previous scan did not find.', 0),
  configurationChanges: Shows.number('Components that changed or disappeared.', 1),
  issuesDetected: Shows.number('Issues, each with one recommendation.', 1),
}) {}

/** A completed scan with its result. */
export class ScanDetailsDto extends AnswerWith(ScanDto, {
  result: Shows.part(() => DiscoveryResultDto, 'The response that its callers received.'),
}) {}

export class ScansPageDto extends Answer({
  scans: Shows.list(() => ScanDto, 'Newest first.'),
  next: Shows.numberOrNull(NEXT_PAGE, null),
}) {}

export function toScansPage({ items, next }: Page<StoredScan, number>): ScansPageDto {
  return { scans: items.map(toScan), next };
}

/** Returns the result of a scan without the parts that are only stored. */
export function toDiscoveryResult({ registered: _stored, ...shown }: DiscoveryResult): DiscoveryResultDto {
  return shown;
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

/** A change of a component since the previous scan. */
export class ChangeDto extends Answer({
  id: Shows.number('Id of the change; later ones have higher ids.', 1700003),
  scanId: Shows.number('Number of the scan.', 17),
  noticedAt: Shows.moment('Completion time of that scan.', '2026-01-31T10:20:32.423Z'),
  map: Shows.enum(
    'ComponentMap',
    ['services', 'infrastructure', 'externalIntegrations'],
    'Map of the result that contains the component.',
  ),
  key: Shows.value('Key of the component in that map.', 'reporting'),
  event: Shows.enum(
    'ComponentChangeEvent',
    CHANGE_EVENTS,
    'Whether the component was added or removed, changed its configuration, or became healthy or unhealthy.',
  ),
  status: shows<ComponentStatus | null>({
    type: String,
    nullable: true,
    enum: ['healthy', 'unhealthy', null],
  })('Status in that scan; null if it was removed.', 'unhealthy'),
  error: Shows.textOrNull('Why it was unhealthy; null if it was not.', 'The connection was refused.'),
}) {}

export class ChangesPageDto extends Answer({
  changes: Shows.list(() => ChangeDto, 'Newest first.'),
  next: Shows.numberOrNull(NEXT_PAGE, null),
}) {}

export function toChangesPage({ items, next }: Page<DiscoveryChangeEntity, number>): ChangesPageDto {
  return { changes: items.map(toChange), next };
}

function toChange(change: DiscoveryChangeEntity): ChangeDto {
  return {
    id: change.id,
    scanId: change.scanId,
    noticedAt: change.noticedAt.toISOString(),
    map: change.componentMap,
    key: change.componentKey,
    event: change.event,
    status: change.status,
    error: change.failure === null ? null : PROBE_FAILURES[change.failure],
  };
}
