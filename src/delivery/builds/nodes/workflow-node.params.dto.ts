import { Fields, FieldsWith } from '../../../platform/openapi/answer-fields.decorators.js';
import { IsInQuery } from '../../../platform/validation/query.decorators.js';
import {
  IsPathName,
  WORKFLOW_NAME,
  IsPathId,
  MatchesPathId,
  PATH_ID_PATTERN,
} from '../../../platform/validation/patterns.decorators.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import { AppVersionParams, versionOf } from '../../../apps/app.params.dto.js';

/** Names a workflow by its place in the interface; the name without regard to case. */
export interface WorkflowKey extends AppVersionKey {
  workflow: string;
}

/** Names a node by its place in the interface. */
export interface NodeKey extends WorkflowKey {
  nodeId: string;
}

export class WorkflowParams extends FieldsWith(AppVersionParams, {
  workflowName: IsPathName(
    WORKFLOW_NAME,
    'Name of the workflow, without regard to case.',
    'rate_application',
  ),
}) {}

export class WorkflowNodeParams extends FieldsWith(WorkflowParams, {
  nodeId: IsPathId('Id of the node.', 'agent'),
}) {}

/** Where a new node comes. */
export class NewNodeQueryDto extends Fields({
  onSequence: IsInQuery<string>(
    {
      type: String,
      pattern: PATH_ID_PATTERN,
      description:
        'Id of a sequence that the node comes on: the sequence leads to the node then, with the conditions that led along it, and the ' +
        'node to where the sequence led, unless it has sequences of its own or is an END. Without it something must lead to the node already.',
      example: 's1',
    },
    MatchesPathId(),
  ),
}) {}

/** The workflow that a path names. */
export function workflowOf(params: WorkflowParams): WorkflowKey {
  return { ...versionOf(params), workflow: params.workflowName };
}

/** The node that a path names. */
export function nodeOf(params: WorkflowNodeParams): NodeKey {
  return { ...workflowOf(params), nodeId: params.nodeId };
}
