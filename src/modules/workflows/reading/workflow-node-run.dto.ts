import { ApiProperty } from '@nestjs/swagger';
import type { JsonValue } from '../../../common/json.js';
import { WorkflowNodeState } from '../model/workflow.types.js';
import { ANY_JSON } from '../model/any-json.js';
import { WorkflowRunErrorDto } from '../model/workflow-run-error.dto.js';

/** What a node did at one visit. */
export class WorkflowNodeRunDto {
  @ApiProperty({ description: 'Id of the node in its workflow.', example: 'score' })
  nodeId: string;

  @ApiProperty({ description: 'Name of the node.', example: 'Score' })
  name: string;

  @ApiProperty({ description: 'Type of the node.', example: 'SUBWORKFLOW' })
  type: string;

  @ApiProperty({ enum: WorkflowNodeState, enumName: 'WorkflowNodeState', description: 'How it ended.' })
  state: WorkflowNodeState;

  @ApiProperty({ format: 'date-time', description: 'When it began.', example: '2026-01-31T10:20:30.123Z' })
  startedAt: string;

  @ApiProperty({ format: 'date-time', description: 'When it ended.', example: '2026-01-31T10:20:30.125Z' })
  finishedAt: string;

  @ApiProperty({
    ...ANY_JSON,
    description:
      'What it worked on, any JSON: `inputBody` with its references replaced. Null for a type that takes none.',
    example: { amount: 1000 },
  })
  input: JsonValue;

  @ApiProperty({
    ...ANY_JSON,
    description: 'Its result, any JSON; null when it failed.',
    example: { score: 720 },
  })
  output: JsonValue;

  @ApiProperty({
    isArray: true,
    enum: ['input', 'output'],
    description: 'Which of the two were too large to be kept, and are null here for that reason.',
    example: [],
  })
  omitted: ('input' | 'output')[];

  @ApiProperty({
    type: [String],
    description: 'References to data that was not there; they were replaced by nothing or by null.',
    example: ['client.middleName'],
  })
  missing: string[];

  @ApiProperty({
    type: () => WorkflowRunErrorDto,
    nullable: true,
    description: 'Why it failed; null if not.',
  })
  error: WorkflowRunErrorDto | null;
}
