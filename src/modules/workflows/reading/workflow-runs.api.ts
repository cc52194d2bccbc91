import { denialOf } from '../../../common/auth/auth.errors.js';
import { Permission } from '../../../common/auth/permission.js';
import { apiRoutes } from '../../../common/http/api-routes.js';
import { WorkflowCallPageDto } from './workflow-call.dto.js';
import { WorkflowRunDetailsDto } from './workflow-run-details.dto.js';
import { WorkflowRunPageDto } from './workflow-run.dto.js';
import { WorkflowUsageDto } from './workflow-usage.dto.js';
import {
  WORKFLOW_CALL_PAGE_EXAMPLE,
  WORKFLOW_RUN_EXAMPLE,
  WORKFLOW_RUN_PAGE_EXAMPLE,
  WORKFLOW_USAGE_EXAMPLE,
} from './workflow-run.examples.js';

const DENIED = { 403: denialOf(Permission.ProcessRead) };

/** What the OpenAPI document says of the routes beside it. */
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
