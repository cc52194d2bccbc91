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

/** Identifies a workflow in the API, ignoring the case of its name. */
export interface WorkflowKey extends AppVersionKey {
  workflow: string;
}

/** Identifies a node in the API. */
export interface NodeKey extends WorkflowKey {
  nodeId: string;
}

export class WorkflowParams extends FieldsWith(AppVersionParams, {
  workflowName: IsPathName(WORKFLOW_NAME, 'Name of the workflow, ignoring case.', 'rate_application'),
}) {}

export class WorkflowNodeParams extends FieldsWith(WorkflowParams, {
  nodeId: IsPathId('Id of the node.', 'agent'),
}) {}

/** Position of a new node. */
export class NewNodeQueryDto extends Fields({
  onSequence: IsInQuery<string>(
    {
      type: String,
      pattern: PATH_ID_PATTERN,
      description:
        'Id of the sequence into which to insert the node. The sequence, with its conditions, then leads to the node, and the node to the ' +
        'former target, unless it has its own sequences or is an END. If omitted, another node must already lead to this one.',
      example: 's1',
    },
    MatchesPathId(),
  ),
}) {}

/** Returns the workflow that a path names. */
export function workflowOf(params: WorkflowParams): WorkflowKey {
  return { ...versionOf(params), workflow: params.workflowName };
}

/** Returns the node that a path names. */
export function nodeOf(params: WorkflowNodeParams): NodeKey {
  return { ...workflowOf(params), nodeId: params.nodeId };
}
