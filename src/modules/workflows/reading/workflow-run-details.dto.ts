import { Shows } from '../../../common/answer-fields.decorators.js';
import type { JsonValue } from '../../../common/json.js';
import { scrub, scrubJson } from '../../../common/logging/scrub.js';
import type { RunDetails, WorkflowNodeRecord } from '../model/workflow.types.js';
import { ShowsAnyJson } from '../model/any-json.js';
import { WorkflowNodeRunDto } from './workflow-node-run.dto.js';
import { toWorkflowRun, WorkflowRunDto } from './workflow-run.dto.js';

/** A workflow run with what its nodes did. */
export class WorkflowRunDetailsDto extends WorkflowRunDto {
  @Shows.list(
    () => WorkflowNodeRunDto,
    'What its nodes did, in this order, one entry for each visit. Empty until the run has ended.',
  )
  nodes: WorkflowNodeRunDto[];

  @ShowsAnyJson(
    'What it gave to the process or the run that started it, any JSON; null unless it has finished.',
    { score: 720 },
  )
  output: JsonValue;
}

export function toWorkflowRunDetails(run: RunDetails): WorkflowRunDetailsDto {
  return { ...toWorkflowRun(run), nodes: run.nodes.map(toNode), output: scrubJson(run.output) };
}

/** Without what looks like a secret: servers and people write into data whatever they like. */
function toNode(node: WorkflowNodeRecord): WorkflowNodeRunDto {
  return {
    nodeId: node.nodeId,
    name: node.name,
    type: node.type,
    state: node.state,
    startedAt: node.startedAt,
    finishedAt: node.finishedAt,
    input: scrubJson(node.input),
    output: scrubJson(node.output),
    omitted: [...node.omitted],
    missing: [...node.missing],
    error:
      node.error === null
        ? null
        : {
            ...node.error,
            details: node.error.details === null ? null : scrub(node.error.details),
          },
  };
}
