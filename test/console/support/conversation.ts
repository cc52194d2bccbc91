import type { WorkflowCall } from '../../../packages/client/src/index.js';

const MARKUP = '<img src=x onerror="document.title=1">';
const AT = '2026-01-31T10:20:30.123Z';

/** Recorded conversation in the form of the service, because the tests have no model. */
export const CALLS: readonly WorkflowCall[] = [
  {
    key: '2/adviser/m1',
    kind: 'MODEL',
    request: {
      messages: [
        { role: 'system', content: `You advise. ${MARKUP}` },
        { role: 'user', content: `{"client":"${MARKUP}"}` },
      ],
      tools: ['everything__get-sum'],
    },
    response: {
      content: `First I add. ${MARKUP}`,
      calls: [{ id: 'c1', name: 'everything__get-sum', arguments: '{"a":1}' }],
      finishReason: 'tool_calls',
    },
    usage: { inputTokens: 1_832, outputTokens: 36, cost: 0.25 },
    outcome: 'OK',
    state: 'DONE',
  },
  {
    key: '2/adviser/m1.t1',
    kind: 'TOOL',
    request: { name: 'everything__get-sum', system: 'everything', tool: 'get-sum', arguments: { a: MARKUP } },
    response: { ok: false, error: `The tool was disabled. ${MARKUP}` },
    usage: null,
    outcome: 'TOOL_DISABLED',
    state: 'FAILED',
  },
].map(
  (call) => ({ tries: 1, startedAt: AT, finishedAt: AT, durationMs: 70, cut: [], ...call }) as WorkflowCall,
);
