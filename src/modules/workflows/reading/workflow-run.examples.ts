const RUN = {
  id: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40',
  workflow: 'credit_score',
  buildId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01',
  appId: null,
  state: 'FINISHED',
  origin: 'PROCESS',
  processInstanceUuid: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b50',
  parentRunId: null,
  startedAt: '2026-01-31T10:20:30.123Z',
  finishedAt: '2026-01-31T10:20:30.456Z',
  error: null,
  errorCode: null,
};

const TIMES = { startedAt: '2026-01-31T10:20:30.130Z', finishedAt: '2026-01-31T10:20:30.131Z' };
const ALL_WELL = { state: 'FINISHED', omitted: [], missing: [], error: null };

/** What the API documentation shows for a list of runs. */
export const WORKFLOW_RUN_PAGE_EXAMPLE = {
  runs: [
    RUN,
    {
      ...RUN,
      id: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b3f',
      state: 'FAILED',
      processInstanceUuid: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b51',
      error: {
        code: 'WORKFLOW_INPUT_INVALID',
        node: 'Start',
        message: 'The input of the workflow is not as its model says.',
        details: 'amount: is required',
      },
    },
  ],
  next: null,
};

/** What the API documentation shows for one run. */
export const WORKFLOW_RUN_EXAMPLE = {
  ...RUN,
  nodes: [
    {
      nodeId: 'start',
      name: 'Start',
      type: 'START',
      ...ALL_WELL,
      ...TIMES,
      input: null,
      output: { amount: 1000 },
    },
    {
      nodeId: 'rate',
      name: 'Rate',
      type: 'DATA_MAPPING',
      ...ALL_WELL,
      ...TIMES,
      input: { score: 720 },
      output: { score: 720 },
    },
    { nodeId: 'end', name: 'End', type: 'END', ...ALL_WELL, ...TIMES, input: null, output: { score: 720 } },
  ],
  output: { score: 720 },
};

const CALL = { state: 'DONE', tries: 1, outcome: 'OK', cut: [] };

/** What the API documentation shows for the calls of a run. */
export const WORKFLOW_CALL_PAGE_EXAMPLE = {
  calls: [
    {
      ...CALL,
      key: '2/advise/m1',
      kind: 'MODEL',
      startedAt: '2026-01-31T10:20:30.130Z',
      finishedAt: '2026-01-31T10:20:31.130Z',
      durationMs: 1000,
      usage: { inputTokens: 412, outputTokens: 36, cost: null },
      request: {
        messages: [
          { role: 'system', content: 'You are an agent in a business process. …' },
          { role: 'user', content: 'Data for the task, as JSON. …' },
        ],
        tools: ['everything__echo'],
      },
      response: {
        content: 'I read it back.',
        calls: [{ id: 'call_1', name: 'everything__echo', arguments: '{"message":"hello"}' }],
        usage: { inputTokens: 412, outputTokens: 36, cost: null },
        finishReason: 'tool_calls',
      },
    },
    {
      ...CALL,
      key: '2/advise/m1.t1',
      kind: 'TOOL',
      startedAt: '2026-01-31T10:20:31.135Z',
      finishedAt: '2026-01-31T10:20:31.160Z',
      durationMs: 25,
      usage: null,
      request: {
        name: 'everything__echo',
        system: 'everything',
        tool: 'echo',
        arguments: { message: 'hello' },
      },
      response: { ok: true, result: 'Echo: hello' },
    },
  ],
  next: null,
};

/** What the API documentation shows for what runs have used up. */
export const WORKFLOW_USAGE_EXAMPLE = {
  from: '2026-01-31T00:00:00.000Z',
  to: '2026-01-31T10:20:30.123Z',
  runs: [
    { state: 'STARTED', count: 2 },
    { state: 'FINISHED', count: 118 },
    { state: 'FAILED', count: 3 },
    { state: 'CANCELLED', count: 0 },
  ],
  agentRuns: 42,
  modelCalls: 131,
  inputTokens: 250_400,
  outputTokens: 31_200,
  cost: 1.25,
  complete: true,
};
