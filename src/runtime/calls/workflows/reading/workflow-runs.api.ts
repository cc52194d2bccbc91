import { exampleOf } from '../../../../platform/openapi/answer-fields.decorators.js';
import { denialOf } from '../../../../platform/auth/auth.errors.js';
import { Permission } from '../../../../platform/auth/permission.js';
import { apiRoutes } from '../../../../platform/http/api-routes.js';
import { WorkflowCallPageDto } from './workflow-call.dto.js';
import { WorkflowRunDto, WorkflowRunDetailsDto, WorkflowRunPageDto } from './workflow-run.dto.js';
import { WorkflowUsageDto } from './workflow-usage.dto.js';

const RUN = exampleOf(WorkflowRunDto, { state: 'FINISHED', origin: 'PROCESS', error: null });

const TIMES = { startedAt: '2026-01-31T10:20:30.130Z', finishedAt: '2026-01-31T10:20:30.131Z' };
const ALL_WELL = { state: 'FINISHED', omitted: [], missing: [], error: null };

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

export const WORKFLOW_USAGE_EXAMPLE = exampleOf(WorkflowUsageDto, {
  runs: [
    { state: 'STARTED', count: 2 },
    { state: 'FINISHED', count: 118 },
    { state: 'FAILED', count: 3 },
    { state: 'CANCELLED', count: 0 },
  ],
});

const DENIED = { 403: denialOf(Permission.ProcessRead) };

export const WorkflowRunsApi = apiRoutes([DENIED], {
  listWorkflowRuns: {
    summary: 'List workflow runs',
    description:
      'Extension of the contract. The runs of all workflows and their subworkflows, newest first. Follow `next` until it is null.',
    answer: { type: WorkflowRunPageDto, example: WORKFLOW_RUN_PAGE_EXAMPLE, description: 'A page of runs.' },
  },
  getWorkflowUsage: {
    summary: 'Sum up what workflow runs have used up',
    description:
      'Extension of the contract. Runs by state, and what the models of agents were asked and have counted, since `from`, a day ' +
      'before `to` without it. Of the applications that the caller may read.',
    answer: { type: WorkflowUsageDto, example: WORKFLOW_USAGE_EXAMPLE, description: 'The sums.' },
  },
  getWorkflowRun: {
    summary: 'Get a workflow run with what its nodes did',
    description:
      'Extension of the contract. Inputs and outputs of nodes hold process data; those that are too large are left out.',
    answer: { type: WorkflowRunDetailsDto, example: WORKFLOW_RUN_EXAMPLE, description: 'The run.' },
    errors: [{ 404: 'Workflow run not found.' }],
  },
  listWorkflowRunCalls: {
    summary: 'List what a workflow run has called',
    description:
      'Extension of the contract. Every call of a language model, a tool or a REST endpoint, with its question, answer, time and tokens, in the order in which they were begun; also while the run is under way. Follow `next` until it is null: a page has fewer calls than `limit` when they are large, and ends when its questions and answers have come to 1,048,576 characters. Values that look like secrets are removed.',
    answer: {
      type: WorkflowCallPageDto,
      example: WORKFLOW_CALL_PAGE_EXAMPLE,
      description: 'A page of calls.',
    },
    errors: [{ 404: 'Workflow run not found.' }],
  },
});
