import { HttpStatus } from '@nestjs/common';
import { denialOf } from '../../../../platform/auth/auth.errors.js';
import { Permission } from '../../../../platform/auth/permission.js';
import { ANY_OBJECT, apiRoutes } from '../../../../platform/http/api-routes.js';
import { LOCATION_HEADER, REPLAY_HEADER } from '../../../../platform/http/answer-headers.js';
import { IDEMPOTENCY_KEY } from '../../../../idempotency/idempotency-key.dto.js';
import { StartedTestRunDto } from './test-run.dto.js';

export const TestRunsApi = apiRoutes([], {
  startTestRun: {
    summary: 'Start a test run of a workflow',
    description:
      'Extension of the contract. The body is the input. The run executes in the background like runs of processes, makes real outside ' +
      'calls and has the `origin` `TEST`. Read the run to follow its progress.',
    headers: [IDEMPOTENCY_KEY],
    status: HttpStatus.ACCEPTED,
    body: {
      schema: ANY_OBJECT,
      // Without a body the input is empty.
      required: false,
      examples: { input: { summary: 'Input', value: { amount: 1_000 } } },
    },
    answer: {
      type: StartedTestRunDto,
      headers: { ...LOCATION_HEADER, ...REPLAY_HEADER },
      example: { workflowRunId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40' },
      description: 'The run has started.',
    },
    errors: [
      { 403: denialOf(Permission.WorkflowTest) },
      { 404: 'Workflow not found.' },
      { 409: 'The Idempotency-Key was used for a request with another body.' },
    ],
  },
});
