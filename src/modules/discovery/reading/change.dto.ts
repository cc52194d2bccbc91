import type { Page } from '../../../common/page.js';
import { ApiProperty } from '@nestjs/swagger';
import { NEXT_PAGE, Shows } from '../../../common/answer-fields.decorators.js';
import type { ComponentMap } from '../model/component.types.js';
import type { StoredChange } from '../model/discovery.types.js';
import { PROBE_FAILURES } from '../model/probe.error.js';
import { CHANGE_EVENTS, type ChangeEvent, type ComponentStatus } from '../model/scan.types.js';

/** Something that a scan found different from the scan before it. */
export class ChangeDto {
  @Shows.number('Id of the change; later ones have higher ids.', 1700003)
  id: number;

  @Shows.number('Number of the scan.', 17)
  scanId: number;

  @Shows.moment('When that scan was completed.', '2026-01-31T10:20:32.423Z')
  noticedAt: string;

  @Shows.enum(
    'ComponentMap',
    ['services', 'infrastructure', 'externalIntegrations'],
    'Map of the result in which the component stands.',
  )
  map: ComponentMap;

  @Shows.value('Key of the component in that map.', 'reporting')
  key: string;

  @Shows.enum(
    'ComponentChangeEvent',
    CHANGE_EVENTS,
    'It came, it went, its configuration changed, or it became healthy or unhealthy.',
  )
  event: ChangeEvent;

  @ApiProperty({
    type: String,
    nullable: true,
    enum: ['healthy', 'unhealthy', null],
    description: 'Its status in that scan; null when it was gone.',
    example: 'unhealthy',
  })
  status: ComponentStatus | null;

  @Shows.textOrNull('Why it was unhealthy; null when it was not.', 'The connection was refused.')
  error: string | null;
}

/** A page of changes. */
export class ChangesPageDto {
  @Shows.list(() => ChangeDto, 'Newest first.')
  changes: ChangeDto[];

  @Shows.numberOrNull(NEXT_PAGE, null)
  next: number | null;
}

export function toChangesPage({ items, next }: Page<StoredChange, number>): ChangesPageDto {
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
