import { ApiProperty } from '@nestjs/swagger';
import { Shows } from '../../../common/answer-fields.decorators.js';
import type { JsonValue } from '../../../common/json.js';
import { NODE_TYPES } from '../../packages/model/node-types.types.js';
import { WorkflowNodeState } from '../model/workflow.types.js';
import { ShowsAnyJson } from '../model/any-json.js';
import { WorkflowRunErrorDto } from '../model/workflow-run-error.dto.js';

/** What a node did at one visit. */
export class WorkflowNodeRunDto {
  @Shows.value('Id of the node in its workflow.', 'score')
  nodeId: string;

  @Shows.value('Name of the node.', 'Score')
  name: string;

  @Shows.enum('WorkflowNodeType', [...NODE_TYPES], 'What the node does.', 'SUBWORKFLOW')
  type: string;

  @Shows.enum('WorkflowNodeState', WorkflowNodeState, 'How it ended.')
  state: WorkflowNodeState;

  @Shows.moment('When it began.', '2026-01-31T10:20:30.123Z')
  startedAt: string;

  @Shows.moment('When it ended.', '2026-01-31T10:20:30.125Z')
  finishedAt: string;

  @ShowsAnyJson(
    'What it worked on, any JSON: `inputBody` with its references replaced. Null for a type that takes none.',
    { amount: 1000 },
  )
  input: JsonValue;

  @ShowsAnyJson('Its result, any JSON; null when it failed.', { score: 720 })
  output: JsonValue;

  @ApiProperty({
    isArray: true,
    enum: ['input', 'output'],
    description: 'Which of the two were too large to be kept, and are null here for that reason.',
    example: [],
  })
  omitted: ('input' | 'output')[];

  @Shows.texts('References to data that was not there; they were replaced by nothing or by null.', [
    'client.middleName',
  ])
  missing: string[];

  @Shows.partOrNull(() => WorkflowRunErrorDto, 'Why it failed; null if not.')
  error: WorkflowRunErrorDto | null;
}
