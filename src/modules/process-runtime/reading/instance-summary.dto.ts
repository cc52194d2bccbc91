import { NEXT_PAGE, Shows } from '../../../common/answer-fields.decorators.js';
import { UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import type { UserReference } from '../../../common/user/user-reference.js';
import type { InstanceStatus } from '../engine/state/engine.types.js';
import { ShowsInstanceState, InstanceMetadataDto } from '../model/start.response.dto.js';

const TIME = '2026-01-31T10:20:30.123Z';

/** A process instance without its data. */
export class InstanceSummaryDto {
  @Shows.uuid('Names the instance in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10')
  uuid: string;

  @ShowsInstanceState('CREATED: it could not start, an incident tells why.', 'STARTED')
  state: InstanceStatus;

  @Shows.value('Name of the process.', 'loan_onboarding')
  processDefinitionName: string;

  @Shows.value('Process definition; the same in every build.', 'c5cada5c-7901-5807-a7d4-06e549c30dd1')
  processDefinitionSvcUuid: string;

  @Shows.value('Build that the instance runs on to its end.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01')
  buildId: string;

  @Shows.value('Status of the build when the instance started.', 'COMMITTED')
  buildStatusAtStart: string;

  @Shows.value('Application that the process belongs to.', 'sample')
  applicationId: string;

  @Shows.textOrNull('Application of the process that called it; null when none did.', null)
  parentApplicationId: string | null;

  @Shows.value('Application at the top of the calls.', 'sample')
  rootApplicationId: string;

  @Shows.uuidOrNull('Instance that called it; null when none did.', null)
  parentProcessInstanceUuid: string | null;

  @Shows.textOrNull(
    'What the header `svc-platform` said at the start; null when no caller started it.',
    'web',
  )
  platform: string | null;

  @Shows.partOrNull(() => UserReferenceDto, 'Who started it; null when a timer or a message did.')
  startedBy: UserReference | null;

  @Shows.moment('When it started.', TIME)
  startedAt: string;

  @Shows.moment('When it last changed.', TIME)
  dateUpdated: string;

  @Shows.momentOrNull('When it ended; null before.', null)
  endedAt: string | null;

  @Shows.momentOrNull('When it expires unless it has ended before; null for never.', null)
  expiresAt: string | null;

  @Shows.number('How many incidents are open.', 0)
  openIncidents: number;

  @Shows.part(() => InstanceMetadataDto, 'Number and UUID of the instance.')
  instanceMetadata: InstanceMetadataDto;
}

/** A page of process instances. */
export class InstancePageDto {
  @Shows.list(() => InstanceSummaryDto, 'Newest first.')
  instances: InstanceSummaryDto[];

  @Shows.textOrNull(NEXT_PAGE, null)
  next: string | null;
}
