import { ApiProperty } from '@nestjs/swagger';
import { UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import type { UserReference } from '../../../common/user/user-reference.js';
import type { InstanceStatus } from '../engine/state/engine.types.js';
import type { InstancePage, InstanceSummaryView } from '../model/process-instances.types.js';
import { INSTANCE_STATES, InstanceMetadataDto } from '../model/start.response.dto.js';

const TIME = '2026-01-31T10:20:30.123Z';

/** A process instance without its data. */
export class InstanceSummaryDto implements InstanceSummaryView {
  @ApiProperty({
    format: 'uuid',
    description: 'Names the instance in paths.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10',
  })
  uuid: string;

  @ApiProperty({
    enum: INSTANCE_STATES,
    enumName: 'ProcessInstanceState',
    description: 'CREATED: it could not start, an incident tells why.',
    example: 'STARTED',
  })
  state: InstanceStatus;

  @ApiProperty({ description: 'Name of the process.', example: 'loan_onboarding' })
  processDefinitionName: string;

  @ApiProperty({
    description: 'Process definition; the same in every build.',
    example: 'c5cada5c-7901-5807-a7d4-06e549c30dd1',
  })
  processDefinitionSvcUuid: string;

  @ApiProperty({
    description: 'Build that the instance runs on to its end.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01',
  })
  buildId: string;

  @ApiProperty({ description: 'Status of the build when the instance started.', example: 'COMMITTED' })
  buildStatusAtStart: string;

  @ApiProperty({ description: 'Application that the process belongs to.', example: 'sample' })
  applicationId: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Application of the process that called it; null when none did.',
    example: null,
  })
  parentApplicationId: string | null;

  @ApiProperty({ description: 'Application at the top of the calls.', example: 'sample' })
  rootApplicationId: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Instance that called it; null when none did.',
    example: null,
  })
  parentProcessInstanceUuid: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What the header `svc-platform` said at the start; null when no caller started it.',
    example: 'web',
  })
  platform: string | null;

  @ApiProperty({
    type: () => UserReferenceDto,
    nullable: true,
    description: 'Who started it; null when a timer or a message did.',
  })
  startedBy: UserReference | null;

  @ApiProperty({ format: 'date-time', description: 'When it started.', example: TIME })
  startedAt: string;

  @ApiProperty({ format: 'date-time', description: 'When it last changed.', example: TIME })
  dateUpdated: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When it ended; null before.',
    example: null,
  })
  endedAt: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When it expires unless it has ended before; null for never.',
    example: null,
  })
  expiresAt: string | null;

  @ApiProperty({ type: 'integer', description: 'How many incidents are open.', example: 0 })
  openIncidents: number;

  @ApiProperty({ type: () => InstanceMetadataDto, description: 'Number and UUID of the instance.' })
  instanceMetadata: InstanceMetadataDto;
}

/** A page of process instances. */
export class InstancePageDto implements InstancePage {
  @ApiProperty({ type: () => [InstanceSummaryDto], description: 'Newest first.' })
  instances: InstanceSummaryDto[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Give it as `before` to read on; null on the last page.',
    example: null,
  })
  next: string | null;
}
