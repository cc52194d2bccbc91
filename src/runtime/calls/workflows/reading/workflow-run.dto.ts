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
import type { YieldingWork } from '#engine/support';
import { IsPathId } from '../../../../platform/validation/patterns.decorators.js';
import {
  IsQueryUuid,
  IsQueryText,
  IsQueryName,
  inPages,
  inRange,
} from '../../../../platform/validation/query.decorators.js';

/** Response field with any JSON value, including null. */
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
  node: Shows.textOrNull('Name of the node; null when the failure concerns the whole run.', 'Score'),
  message: Shows.value('What happened.', 'No condition is true, and there is no default.'),
  details: Shows.textOrNull(
    'Details, which may include parts of the workflow and process data.',
    'amount: is required',
  ),
}) {}

/** One visit of a node. */
export class WorkflowNodeRunDto extends Answer({
  nodeId: Shows.value('Id of the node in its workflow.', 'score'),
  name: Shows.value('Name of the node.', 'Score'),
  type: Shows.enum('WorkflowNodeType', [...NODE_TYPES], 'Type of the node.', 'SUBWORKFLOW'),
  state: Shows.enum('WorkflowNodeState', WorkflowNodeState, 'How it ended.'),
  startedAt: Shows.moment('When it began.', '2026-01-31T10:20:30.123Z'),
  finishedAt: Shows.moment('When it ended.', '2026-01-31T10:20:30.125Z'),
  input: ShowsAnyJson('Filled `inputBody`, any JSON. Null for types without input.', { amount: 1000 }),
  output: ShowsAnyJson('Result, any JSON; null if it failed.', { score: 720 }),
  omitted: shows<('input' | 'output')[]>({ isArray: true, enum: ['input', 'output'] })(
    'Which of input and output were too large to store, and are therefore null.',
    [],
  ),
  missing: Shows.texts('References to missing data; they were replaced by an empty text or null.', [
    'client.middleName',
  ]),
  error: Shows.partOrNull(() => WorkflowRunErrorDto, 'Why it failed; null if it did not.'),
}) {}

export class WorkflowRunDto extends Answer({
  id: Shows.uuid('Id of the run.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40'),
  workflow: Shows.value('Name of the workflow.', 'credit_score'),
  buildId: Shows.value('Build of the process instance.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01'),
  appId: Shows.textOrNull(
    'Application in which the workflow was looked up: that of the build or of a library; null if all were searched.',
    null,
  ),
  state: Shows.enum(
    'WorkflowRunState',
    WorkflowRunState,
    'State of the run. An interrupted run is `FAILED` until its job restarts it; a run that its process no longer waits for is `CANCELLED`.',
  ),
  origin: Shows.enum(
    'WorkflowRunOrigin',
    WorkflowRunOrigin,
    'Origin of the run; subworkflows have the origin of their parent run.',
  ),
  processInstanceUuid: Shows.uuidOrNull(
    'Process instance of the run; null for a test run.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b50',
  ),
  parentRunId: Shows.uuidOrNull('Run that started it as a subworkflow; null if none did.', null),
  startedAt: Shows.moment('When it first started.', '2026-01-31T10:20:30.123Z'),
  finishedAt: Shows.momentOrNull('When it ended; null while it runs.', '2026-01-31T10:20:30.456Z'),
  error: Shows.partOrNull(() => WorkflowRunErrorDto, 'Why it failed; null if it did not.'),
  errorCode: Shows.textOrNull(
    'Code of the BPMN error thrown by its END node; null if none was thrown.',
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

/** Workflow run with its node visits. */
export class WorkflowRunDetailsDto extends AnswerWith(WorkflowRunDto, {
  nodes: Shows.list(() => WorkflowNodeRunDto, 'Node visits in order. Empty until the run has ended.'),
  output: ShowsAnyJson(
    'Output returned to the process or parent run, any JSON; null unless it has finished.',
    { score: 720 },
  ),
}) {}

/** Members of a visit that the service wrote itself, so they need no scrubbing. */
const UNSCRUBBED = [
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

/** Writes a `WorkflowRunDetailsDto` as JSON from the stored texts, in slices. */
export function* workflowRunDetailsSteps(run: RunDetails): YieldingWork<JsonText> {
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

/** Removes values that look like secrets, since servers and people may put them into data. */
function* nodeSteps(node: JsonPart): YieldingWork<string> {
  const member = (name: keyof WorkflowNodeRunDto): string => memberOf(node, name)?.bytes.toString() ?? 'null';
  return objectText({
    ...Object.fromEntries(UNSCRUBBED.map((name) => [name, member(name)])),
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
  parentRunId: IsQueryUuid('Only subworkflows that this run started directly.'),
  workflow: IsQueryText(255, 'Only runs of workflows with this name.'),
  ...inRange('runs that started'),
  ...inPages('Runs'),
}) {}
