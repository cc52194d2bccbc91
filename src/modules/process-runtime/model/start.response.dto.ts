import { ApiProperty } from '@nestjs/swagger';
import type { InstanceStatus } from '../engine/state/engine.types.js';
import type { StartAnswer } from './process-runtime.types.js';
import { TokenDto } from './token.dto.js';

/** States of a process instance (docs/process-semantics.md, section 3). */
export const INSTANCE_STATES: InstanceStatus[] = [
  'CREATED',
  'STARTED',
  'FINISHED',
  'FAILED',
  'EXPIRED',
  'TERMINATED',
  'DISMISSED',
  'ABORTED',
  'ONHOLD',
];

/** Both names of an instance. */
export class InstanceMetadataDto {
  @ApiProperty({ type: 'integer', description: 'Number of the instance.', example: 3100001 })
  processInstanceId: number;

  @ApiProperty({
    format: 'uuid',
    description: 'The same as `uuid`.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10',
  })
  processInstanceUuid: string;
}

/** What a start answers (docs/contract.md, section 4.1). */
export class StartProcessResponseDto implements StartAnswer {
  @ApiProperty({
    description: 'Process definition; the same in every build.',
    example: 'c5cada5c-7901-5807-a7d4-06e549c30dd1',
  })
  processDefinitionSvcUuid: string;

  @ApiProperty({ description: 'Build that the instance runs on to its end.' })
  buildId: string;

  @ApiProperty({ description: 'Status of the build when the instance started.', example: 'COMMITTED' })
  buildStatusAtStart: string;

  @ApiProperty({ description: 'Application that the process belongs to.', example: 'sample' })
  applicationId: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Application of the calling process; null when nothing called it.',
    example: null,
  })
  parentApplicationId: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Application at the top of the calls.',
    example: 'sample',
  })
  rootApplicationId: string | null;

  @ApiProperty({ description: 'Name of the process, as in the path.', example: 'loan_onboarding' })
  processDefinitionName: string;

  @ApiProperty({
    type: () => [TokenDto],
    description: 'Where the instance stands: its active tokens and those whose branches are running.',
  })
  tokens: TokenDto[];

  @ApiProperty({
    enum: INSTANCE_STATES,
    enumName: 'ProcessInstanceState',
    description: 'FINISHED at once when nothing in the process waits.',
    example: 'STARTED',
  })
  state: InstanceStatus;

  @ApiProperty({
    format: 'uuid',
    description: 'Names the instance in paths.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10',
  })
  uuid: string;

  @ApiProperty({ type: () => InstanceMetadataDto, description: 'Number and UUID of the instance.' })
  instanceMetadata: InstanceMetadataDto;
}
