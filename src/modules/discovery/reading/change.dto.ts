import { ApiProperty } from '@nestjs/swagger';
import type { ComponentMap } from '../model/component.types.js';
import type { HistoryPage, StoredChange } from '../model/discovery.types.js';
import { PROBE_FAILURES } from '../model/probe.error.js';
import { CHANGE_EVENTS, type ChangeEvent, type ComponentStatus } from '../model/scan.types.js';

/** Something that a scan found different from the scan before it. */
export class ChangeDto {
  @ApiProperty({
    type: 'integer',
    description: 'Id of the change; later ones have higher ids.',
    example: 1700003,
  })
  id: number;

  @ApiProperty({ type: 'integer', description: 'Number of the scan.', example: 17 })
  scanId: number;

  @ApiProperty({
    format: 'date-time',
    description: 'When that scan was completed.',
    example: '2026-01-31T10:20:32.423Z',
  })
  noticedAt: string;

  @ApiProperty({
    enum: ['services', 'infrastructure', 'externalIntegrations'],
    enumName: 'ComponentMap',
    description: 'Map of the result in which the component stands.',
  })
  map: ComponentMap;

  @ApiProperty({ description: 'Key of the component in that map.', example: 'reporting' })
  key: string;

  @ApiProperty({
    enum: CHANGE_EVENTS,
    enumName: 'ComponentChangeEvent',
    description: 'It came, it went, its configuration changed, or it became healthy or unhealthy.',
  })
  event: ChangeEvent;

  @ApiProperty({
    type: String,
    nullable: true,
    enum: ['healthy', 'unhealthy', null],
    description: 'Its status in that scan; null when it was gone.',
    example: 'unhealthy',
  })
  status: ComponentStatus | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why it was unhealthy; null when it was not.',
    example: 'The connection was refused.',
  })
  error: string | null;
}

/** A page of changes. */
export class ChangesPageDto {
  @ApiProperty({ type: () => [ChangeDto], description: 'Newest first.' })
  changes: ChangeDto[];

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Give it as `before` to read on; null on the last page.',
    example: null,
  })
  next: number | null;
}

export function toChangesPage({ items, next }: HistoryPage<StoredChange>): ChangesPageDto {
  return { changes: items.map(toChange), next };
}

function toChange(change: StoredChange): ChangeDto {
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
