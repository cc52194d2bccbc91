import { exampleOf } from '../../../../platform/openapi/answer-fields.decorators.js';
import { denialOf } from '../../../../platform/auth/auth.errors.js';
import { Permission } from '../../../../platform/auth/permission.js';
import { apiRoutes } from '../../../../platform/http/api-routes.js';
import { WorkflowCallPageDto } from './workflow-call.dto.js';
import { WorkflowRunDto, WorkflowRunDetailsDto, WorkflowRunPageDto } from './workflow-run.dto.js';
import { WorkflowUsageDto } from './workflow-usage.dto.js';

const RUN = exampleOf(WorkflowRunDto, { state: 'FINISHED', origin: 'PROCESS', error: null });

const TIMES = { startedAt: '2026-01-31T10:20:30.130Z', finishedAt: '2026-01-31T10:20:30.131Z' };
const SUCCEEDED = { state: 'FINISHED', omitted: [], missing: [], error: null };

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
        message: 'The input of the workflow does not match its model.',
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
      ...SUCCEEDED,
      ...TIMES,
      input: null,
      output: { amount: 1000 },
    },
    {
      nodeId: 'rate',
      name: 'Rate',
      type: 'DATA_MAPPING',
      ...SUCCEEDED,
      ...TIMES,
      input: { score: 720 },
      output: { score: 720 },
    },
    { nodeId: 'end', name: 'End', type: 'END', ...SUCCEEDED, ...TIMES, input: null, output: { score: 720 } },
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
    summary: 'Sum up the usage of workflow runs',
    description:
      'Extension of the contract. Runs by state, and model calls and tokens of agents, since `from`, by default one day ' +
      'before `to`. Includes the applications that the caller may read.',
    answer: { type: WorkflowUsageDto, example: WORKFLOW_USAGE_EXAMPLE, description: 'The sums.' },
  },
  getWorkflowRun: {
    summary: 'Get a workflow run with its node visits',
    description:
      'Extension of the contract. Inputs and outputs of nodes contain process data; values that are too large are omitted.',
    answer: { type: WorkflowRunDetailsDto, example: WORKFLOW_RUN_EXAMPLE, description: 'The run.' },
    errors: [{ 404: 'Workflow run not found.' }],
  },
  listWorkflowRunCalls: {
    summary: 'List the outside calls of a workflow run',
    description:
      'Extension of the contract. Calls of language models, tools and REST endpoints, with request, response, time and tokens, in the order in which they were started; also while the run is in progress. Follow `next` until it is null: a page has fewer calls than `limit` if its requests and responses reach 1,048,576 characters. Values that look like secrets are removed.',
    answer: {
      type: WorkflowCallPageDto,
      example: WORKFLOW_CALL_PAGE_EXAMPLE,
      description: 'A page of calls.',
    },
    errors: [{ 404: 'Workflow run not found.' }],
  },
});
