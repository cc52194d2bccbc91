import {
  Answer,
  AnswerWith,
  Shows,
  shows,
  NEXT_PAGE,
  Fields,
} from '../../../../platform/openapi/answer-fields.decorators.js';
import { type JsonValue, membersText, objectText } from '#engine/json';
import { NODE_TYPES } from '../../../../delivery/packages/schema/node-types.types.js';
import {
  WorkflowNodeState,
  NO_PROCESS,
  WorkflowRunOrigin,
  WorkflowRunState,
  type WorkflowRunError,
} from '../model/workflow.types.js';
import type { ListedRun, RunDetails } from '../storage/workflow-run.entity.js';
import type { Page } from '../../../../platform/validation/page.js';
import { JsonText } from '../../../../platform/http/json-replies.js';
import { jsonParts, memberOf, type JsonPart } from '../../../../platform/json/json-part.js';
import { scrub, scrubbedJson } from '../../../../platform/observability/logging/scrub.js';
import type { Steps } from '#engine/support';
import { IsPathId } from '../../../../platform/validation/patterns.decorators.js';
import {
  IsQueryUuid,
  IsQueryText,
  IsQueryName,
  inPages,
  inRange,
} from '../../../../platform/validation/query.decorators.js';

/** A member that is any JSON value, null included. */
export const ShowsAnyJson = shows<JsonValue>({
  oneOf: [
    { type: 'object', additionalProperties: true },
    { type: 'array', items: {} },
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'null' },
  ],
});

/** Why a run, or a node of it, failed. */
export class WorkflowRunErrorDto extends Answer({
  code: Shows.value('Stable code.', 'CONDITION_FAILED'),
  node: Shows.textOrNull('Name of the node; null when it is about the whole run.', 'Score'),
  message: Shows.value('What happened.', 'No condition is true, and there is no default.'),
  details: Shows.textOrNull(
    'What was wrong exactly; may quote the workflow and process data.',
    'amount: is required',
  ),
}) {}

/** What a node did at one visit. */
export class WorkflowNodeRunDto extends Answer({
  nodeId: Shows.value('Id of the node in its workflow.', 'score'),
  name: Shows.value('Name of the node.', 'Score'),
  type: Shows.enum('WorkflowNodeType', [...NODE_TYPES], 'What the node does.', 'SUBWORKFLOW'),
  state: Shows.enum('WorkflowNodeState', WorkflowNodeState, 'How it ended.'),
  startedAt: Shows.moment('When it began.', '2026-01-31T10:20:30.123Z'),
  finishedAt: Shows.moment('When it ended.', '2026-01-31T10:20:30.125Z'),
  input: ShowsAnyJson(
    'What it worked on, any JSON: `inputBody` with its references replaced. Null for a type that takes none.',
    { amount: 1000 },
  ),
  output: ShowsAnyJson('Its result, any JSON; null when it failed.', { score: 720 }),
  omitted: shows<('input' | 'output')[]>({ isArray: true, enum: ['input', 'output'] })(
    'Which of the two were too large to be kept, and are null here for that reason.',
    [],
  ),
  missing: Shows.texts('References to data that was not there; they were replaced by nothing or by null.', [
    'client.middleName',
  ]),
  error: Shows.partOrNull(() => WorkflowRunErrorDto, 'Why it failed; null if not.'),
}) {}

export class WorkflowRunDto extends Answer({
  id: Shows.uuid('Id of the run.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40'),
  workflow: Shows.value('Name of the workflow.', 'credit_score'),
  buildId: Shows.value('Build that the process instance runs in.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01'),
  appId: Shows.textOrNull(
    'Application in which the workflow was looked up: that of the build or of a library; null for whichever has it.',
    null,
  ),
  state: Shows.enum(
    'WorkflowRunState',
    WorkflowRunState,
    'Where it stands. A run that was interrupted is `FAILED` until its job begins it again; one that its process no longer waits for is `CANCELLED`.',
  ),
  origin: Shows.enum(
    'WorkflowRunOrigin',
    WorkflowRunOrigin,
    'What started it; subworkflows have the origin of the run that started them.',
  ),
  processInstanceUuid: Shows.uuidOrNull(
    'Process instance that it belongs to; null for a test run.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b50',
  ),
  parentRunId: Shows.uuidOrNull('Run that started it as a subworkflow; null if none did.', null),
  startedAt: Shows.moment('When it began for the first time.', '2026-01-31T10:20:30.123Z'),
  finishedAt: Shows.momentOrNull('When it ended; null while it runs.', '2026-01-31T10:20:30.456Z'),
  error: Shows.partOrNull(() => WorkflowRunErrorDto, 'Why it failed; null if not.'),
  errorCode: Shows.textOrNull(
    'Code of the BPMN error that it has thrown: a node of type END with an error code was reached. Null for a run that threw none.',
    null,
  ),
}) {}

export class WorkflowRunPageDto extends Answer({
  runs: Shows.list(() => WorkflowRunDto, 'Newest first.'),
  next: Shows.textOrNull(NEXT_PAGE),
}) {}

export function toWorkflowRunPage({ items, next }: Page<ListedRun>): WorkflowRunPageDto {
  return { runs: items.map(toWorkflowRun), next };
}

export function toWorkflowRun(run: ListedRun): WorkflowRunDto {
  return {
    id: run.id,
    workflow: run.workflow,
    buildId: run.buildId,
    appId: run.appId,
    state: run.state,
    origin: run.origin,
    processInstanceUuid: run.processInstanceUuid === NO_PROCESS ? null : run.processInstanceUuid,
    parentRunId: run.parentRunId,
    startedAt: run.startedAt.toISOString(),
    finishedAt: run.finishedAt?.toISOString() ?? null,
    error: run.error,
    errorCode: run.errorCode,
  };
}

/** A workflow run with what its nodes did. */
export class WorkflowRunDetailsDto extends AnswerWith(WorkflowRunDto, {
  nodes: Shows.list(
    () => WorkflowNodeRunDto,
    'What its nodes did, in this order, one entry for each visit. Empty until the run has ended.',
  ),
  output: ShowsAnyJson(
    'What it gave to the process or the run that started it, any JSON; null unless it has finished.',
    { score: 720 },
  ),
}) {}

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

const MEMBERS_OF_NODES = 2;

/** A run as `WorkflowRunDetailsDto`, in JSON. Made of the texts that are stored, in pieces. */
export function* workflowRunDetailsSteps(run: RunDetails): Steps<JsonText> {
  const nodes: string[] = [];
  for (const node of (yield* jsonParts(Buffer.from(run.nodes), MEMBERS_OF_NODES)).parts) {
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
function* nodeSteps(node: JsonPart): Steps<string> {
  const member = (name: keyof WorkflowNodeRunDto): string => memberOf(node, name)?.bytes.toString() ?? 'null';
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

export class WorkflowRunParams extends Fields({
  workflowRunId: IsPathId('Id of the run.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40'),
}) {}

export class WorkflowRunsQueryDto extends Fields({
  state: IsQueryName('WorkflowRunState', Object.values(WorkflowRunState), 'Only runs in this state.', {
    message: 'must be STARTED, FINISHED, FAILED or CANCELLED',
  }),
  processInstanceUuid: IsQueryUuid('Only runs that this process instance started.'),
  parentRunId: IsQueryUuid('Only the subworkflows that this run started itself.'),
  workflow: IsQueryText(255, 'Only runs of workflows with this name.'),
  ...inRange('runs that started'),
  ...inPages('Runs'),
}) {}
