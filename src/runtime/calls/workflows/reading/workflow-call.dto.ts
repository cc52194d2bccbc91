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
import type { Steps } from '#engine/support';
import { IsPageLimit, IsQueryText } from '../../../../platform/validation/query.decorators.js';
import { CallKind, CallState } from '../model/call-journal.types.js';
import type { RunCallPage, WorkflowCallEntity } from '../storage/workflow-run.entity.js';
import { ShowsAnyJson } from './workflow-run.dto.js';

const KEY_MAX_LENGTH = 191;

export class WorkflowCallsQueryDto extends Fields({
  after: IsQueryText(KEY_MAX_LENGTH, 'The `next` of the page before.'),
  limit: IsPageLimit('Calls'),
}) {}

/** What a call has used up. */
export class WorkflowCallUsageDto extends Answer({
  inputTokens: Shows.numberOrNull('Tokens of the question.', 412),
  outputTokens: Shows.numberOrNull('Tokens of the answer.', 36),
  cost: shows<number | null>({ type: 'number', nullable: true })(
    'What it cost, in the currency of the provider; null where the provider does not tell.',
    null,
  ),
}) {}

/** One call of a run to the outside. */
export class WorkflowCallDto extends Answer({
  key: Shows.value(
    'Names the call in its run: `<step>/<id of the node>/…`; an agent counts its turns (`m1`) and the calls of tools in each (`m1.t1`).',
    '2/advise/m1.t1',
  ),
  kind: Shows.enum('WorkflowCallKind', CallKind, 'What was called.'),
  state: Shows.enum(
    'WorkflowCallState',
    CallState,
    '`CLAIMED`: begun. `DONE`: answered, never made again. `FAILED`: without effect, a retry makes it again. `UNKNOWN`: nobody knows whether it was made; a retry of the incident makes it once more. `RELEASED`: that retry was asked for.',
  ),
  tries: Shows.number('How often it was begun.', 1),
  startedAt: Shows.moment('When it began last.', '2026-01-31T10:20:30.130Z'),
  finishedAt: Shows.momentOrNull(
    'When it ended; null if it has not, or nobody knows.',
    '2026-01-31T10:20:30.180Z',
  ),
  durationMs: Shows.numberOrNull('Milliseconds from `startedAt` to `finishedAt`.', 50),
  outcome: Shows.textOrNull(
    'What came of it: `OK`, or why not, such as `TOOL_DISABLED`, `TIMEOUT` or `HTTP_503`.',
    'OK',
  ),
  usage: Shows.partOrNull(() => WorkflowCallUsageDto, 'What a model has counted.'),
  request: ShowsAnyJson(
    'The question: of a model the messages that are new in it, of a tool its name and arguments. Its beginning as a text where it was too large.',
    {
      name: 'everything__echo',
      system: 'everything',
      tool: 'echo',
      arguments: { message: 'hello' },
    },
  ),
  response: ShowsAnyJson(
    'The answer; null until there is one. Its beginning as a text where it is too large.',
    {
      ok: true,
      result: 'Echo: hello',
    },
  ),
  cut: shows<('request' | 'response')[]>({ isArray: true, enum: ['request', 'response'] })(
    'Which of the two are only beginnings.',
    [],
  ),
}) {}

export class WorkflowCallPageDto extends Answer({
  calls: Shows.list(() => WorkflowCallDto, 'In the order in which they were begun.'),
  next: Shows.textOrNull(NEXT_PAGE_AFTER),
}) {}

/**
 * A page as `WorkflowCallPageDto`, in JSON. Made of the texts that are stored, in pieces.
 * @param maxLength characters of a response that are shown
 */
export function* workflowCallPageSteps({ items, next, maxLength }: RunCallPage): Steps<JsonText> {
  const calls: string[] = [];
  for (const call of items) {
    calls.push(yield* callSteps(call, maxLength));
    yield;
  }
  return new JsonText(objectText({ calls: `[${calls.join(',')}]`, next: JSON.stringify(next) }));
}

function* callSteps(call: WorkflowCallEntity, maxLength: number): Steps<string> {
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

/** JSON without what looks like a secret: neither models nor tools were asked to keep theirs. The beginning of it is a text. */
function* shown(json: string, isCut: boolean): Steps<string> {
  return isCut ? JSON.stringify(scrub(json)) : yield* scrubbedJson(json);
}
