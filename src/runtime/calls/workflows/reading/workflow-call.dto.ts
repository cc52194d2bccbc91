import {
  Answer,
  Shows,
  shows,
  NEXT_PAGE_AFTER,
  Fields,
} from '../../../../platform/openapi/answer-fields.decorators.js';
import { JsonText } from '../../../../platform/http/json-replies.js';
import { membersText, objectText } from '#engine/json';
import { scrub, scrubbedJson } from '../../../../platform/observability/logging/scrub.js';
import type { YieldingWork } from '#engine/support';
import { IsPageLimit, IsQueryText } from '../../../../platform/validation/query.decorators.js';
import { CallKind, CallState } from '../model/call-journal.types.js';
import type { RunCallPage, WorkflowCallEntity } from '../storage/workflow-run.entity.js';
import { ShowsAnyJson } from './workflow-run.dto.js';

const KEY_MAX_LENGTH = 191;

export class WorkflowCallsQueryDto extends Fields({
  after: IsQueryText(KEY_MAX_LENGTH, 'Value of `next` from the previous page.'),
  limit: IsPageLimit('Calls'),
}) {}

/** Usage of a call. */
export class WorkflowCallUsageDto extends Answer({
  inputTokens: Shows.numberOrNull('Input tokens.', 412),
  outputTokens: Shows.numberOrNull('Output tokens.', 36),
  cost: shows<number | null>({ type: 'number', nullable: true })(
    'Cost in the currency of the provider; null if the provider does not report it.',
    null,
  ),
}) {}

/** Outside call of a run. */
export class WorkflowCallDto extends Answer({
  key: Shows.value(
    'Key of the call in its run: `<step>/<node id>/…`. Agents number their turns (`m1`) and the tool calls in each (`m1.t1`).',
    '2/advise/m1.t1',
  ),
  kind: Shows.enum('WorkflowCallKind', CallKind, 'What was called.'),
  state: Shows.enum(
    'WorkflowCallState',
    CallState,
    '`CLAIMED`: started. `DONE`: answered, never repeated. `FAILED`: without effect, a retry repeats it. `UNKNOWN`: it is unknown whether it was made; a retry of the incident repeats it. `RELEASED`: that retry was requested.',
  ),
  tries: Shows.number('Number of times it was started.', 1),
  startedAt: Shows.moment('When it was last started.', '2026-01-31T10:20:30.130Z'),
  finishedAt: Shows.momentOrNull(
    'When it ended; null if it has not ended or this is unknown.',
    '2026-01-31T10:20:30.180Z',
  ),
  durationMs: Shows.numberOrNull('Milliseconds from `startedAt` to `finishedAt`.', 50),
  outcome: Shows.textOrNull(
    '`OK`, or the reason of the failure, such as `TOOL_DISABLED`, `TIMEOUT` or `HTTP_503`.',
    'OK',
  ),
  usage: Shows.partOrNull(() => WorkflowCallUsageDto, 'Usage reported by a model.'),
  request: ShowsAnyJson(
    'Request: the new messages of a model call, or name and arguments of a tool call. Truncated to a text if too large.',
    {
      name: 'everything__echo',
      system: 'everything',
      tool: 'echo',
      arguments: { message: 'hello' },
    },
  ),
  response: ShowsAnyJson('Response; null until there is one. Truncated to a text if too large.', {
    ok: true,
    result: 'Echo: hello',
  }),
  cut: shows<('request' | 'response')[]>({ isArray: true, enum: ['request', 'response'] })(
    'Which of request and response are truncated.',
    [],
  ),
}) {}

export class WorkflowCallPageDto extends Answer({
  calls: Shows.list(() => WorkflowCallDto, 'Calls in the order in which they were started.'),
  next: Shows.textOrNull(NEXT_PAGE_AFTER),
}) {}

/** Writes a `WorkflowCallPageDto` as JSON from the stored texts, in slices. */
export function* workflowCallPageSteps({ items, next, maxLength }: RunCallPage): YieldingWork<JsonText> {
  const calls: string[] = [];
  for (const call of items) {
    calls.push(yield* callSteps(call, maxLength));
    yield;
  }
  return new JsonText(objectText({ calls: `[${calls.join(',')}]`, next: JSON.stringify(next) }));
}

function* callSteps(call: WorkflowCallEntity, maxLength: number): YieldingWork<string> {
  const text = call.response ?? 'null';
  const isCut = {
    request: Buffer.byteLength(call.request) < call.requestBytes,
    response: text.length > maxLength,
  };
  return objectText({
    ...membersText(toFields(call, isCut)),
    request: yield* shown(call.request, isCut.request),
    response: yield* shown(text.slice(0, maxLength), isCut.response),
  });
}

function toFields(
  { callKey: key, kind, state, tries, startedAt, finishedAt, outcome, usage }: WorkflowCallEntity,
  isCut: Readonly<Record<'request' | 'response', boolean>>,
): Omit<WorkflowCallDto, 'request' | 'response'> {
  return {
    key,
    kind,
    state,
    tries,
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
    durationMs: finishedAt === null ? null : finishedAt.getTime() - startedAt.getTime(),
    outcome,
    usage,
    cut: (['request', 'response'] as const).filter((part) => isCut[part]),
  };
}

/** Removes values that look like secrets, since models and tools may return them. Truncated JSON becomes a text. */
function* shown(json: string, isCut: boolean): YieldingWork<string> {
  return isCut ? JSON.stringify(scrub(json)) : yield* scrubbedJson(json);
}
