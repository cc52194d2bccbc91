import { ApiProperty } from '@nestjs/swagger';

/** Why a run, or a node of it, failed. */
export class WorkflowRunErrorDto {
  @ApiProperty({ description: 'Stable code.', example: 'CONDITION_FAILED' })
  code: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of the node; null when it is about the whole run.',
    example: 'Score',
  })
  node: string | null;

  @ApiProperty({ description: 'What happened.', example: 'No condition is true, and there is no default.' })
  message: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What was wrong exactly; may quote the workflow and process data.',
    example: 'amount: is required',
  })
  details: string | null;
}
