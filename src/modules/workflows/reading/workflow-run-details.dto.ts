import { ApiProperty } from '@nestjs/swagger';
import type { JsonValue } from '../../../common/json.js';
import { scrub, scrubJson } from '../../../common/logging/scrub.js';
import type { RunDetails, WorkflowNodeRecord } from '../model/workflow.types.js';
import { ANY_JSON } from '../model/any-json.js';
import { WorkflowNodeRunDto } from './workflow-node-run.dto.js';
import { toWorkflowRun, WorkflowRunDto } from './workflow-run.dto.js';

/** A workflow run with what its nodes did. */
export class WorkflowRunDetailsDto extends WorkflowRunDto {
  @ApiProperty({
    type: () => [WorkflowNodeRunDto],
    description:
      'What its nodes did, in this order, one entry for each visit. Empty until the run has ended.',
  })
  nodes: WorkflowNodeRunDto[];

  @ApiProperty({
    ...ANY_JSON,
    description:
      'What it gave to the process or the run that started it, any JSON; null unless it has finished.',
    example: { score: 720 },
  })
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
