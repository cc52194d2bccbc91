import { Shows } from '../../../common/answer-fields.decorators.js';
import type { JsonValue } from '../../../common/json.js';
import { JsonText } from '../../../common/http/json-replies.js';
import { membersOf, membersText, objectText, partsOf } from '../../../common/json-text.js';
import { scrub, scrubbedJson } from '../../../common/logging/scrub.js';
import type { Steps } from '../../../common/turns.js';
import type { RunDetails, WorkflowRunError } from '../model/workflow.types.js';
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

/** What is shown of a visit as it is stored: the service itself wrote it. */
const AS_STORED = [
  'nodeId',
  'name',
  'type',
  'state',
  'startedAt',
  'finishedAt',
  'omitted',
  'missing',
] as const satisfies (keyof WorkflowNodeRunDto)[];

/** A run as `WorkflowRunDetailsDto`, in JSON. Made of the texts that are stored, in pieces. */
export function* workflowRunDetailsSteps(run: RunDetails): Steps<JsonText> {
  const nodes: string[] = [];
  for (const node of yield* partsOf(run.nodes)) {
    nodes.push(yield* nodeSteps(node));
    yield;
  }
  return new JsonText(
    objectText({
      ...membersText(toWorkflowRun(run)),
      nodes: `[${nodes.join(',')}]`,
      output: yield* scrubbedJson(run.output),
    }),
  );
}

/** Without what looks like a secret: servers and people write into data whatever they like. */
function* nodeSteps(node: string): Steps<string> {
  const stored = yield* membersOf(node);
  const member = (name: keyof WorkflowNodeRunDto): string => stored.get(name) ?? 'null';
  return objectText({
    ...Object.fromEntries(AS_STORED.map((name) => [name, member(name)])),
    input: yield* scrubbedJson(member('input')),
    output: yield* scrubbedJson(member('output')),
    error: JSON.stringify(shownError(JSON.parse(member('error')) as WorkflowRunError | null)),
  });
}

function shownError(error: WorkflowRunError | null): WorkflowRunError | null {
  return error === null ? null : { ...error, details: error.details === null ? null : scrub(error.details) };
}
