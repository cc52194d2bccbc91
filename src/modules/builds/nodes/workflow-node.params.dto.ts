import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import {
  IsPathName,
  WORKFLOW_NAME,
  IsPathId,
  MatchesPathId,
  PATH_ID_PATTERN,
} from '../../../common/validation/patterns.decorators.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AppVersionParams, versionOf } from '../../apps/app.params.dto.js';

/** Names a workflow by its place in the interface; the name without regard to case. */
export interface WorkflowKey extends AppVersionKey {
  workflow: string;
}

/** Names a node by its place in the interface. */
export interface NodeKey extends WorkflowKey {
  nodeId: string;
}

/** Path of one workflow of a version. */
export class WorkflowParams extends AppVersionParams {
  @IsPathName(WORKFLOW_NAME, {
    description: 'Name of the workflow, without regard to case.',
    example: 'rate_application',
  })
  workflowName: string;
}

/** Path of one node of a workflow. */
export class WorkflowNodeParams extends WorkflowParams {
  @IsPathId({ description: 'Id of the node.', example: 'agent' })
  nodeId: string;
}

/** Where a new node comes. */
export class NewNodeQueryDto {
  @ApiPropertyOptional({
    type: String,
    pattern: PATH_ID_PATTERN,
    description:
      'Id of a sequence that the node comes on: the sequence leads to the node then, with the conditions that led along it, and the ' +
      'node to where the sequence led, unless it has sequences of its own or is an END. Without it something must lead to the node already.',
    example: 's1',
  })
  @MatchesPathId()
  @IsOptional()
  onSequence?: string;
}

/** The workflow that a path names. */
export function workflowOf(params: WorkflowParams): WorkflowKey {
  return { ...versionOf(params), workflow: params.workflowName };
}

/** The node that a path names. */
export function nodeOf(params: WorkflowNodeParams): NodeKey {
  return { ...workflowOf(params), nodeId: params.nodeId };
}
