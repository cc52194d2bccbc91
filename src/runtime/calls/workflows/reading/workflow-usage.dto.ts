import { Answer, Shows, Fields } from '../../../../platform/openapi/answer-fields.decorators.js';
import { inRange } from '../../../../platform/validation/query.decorators.js';
import { WorkflowRunState } from '../model/workflow.types.js';

/** What to sum up. */
export class WorkflowUsageQueryDto extends Fields({
  ...inRange('runs and calls that began'),
}) {}

/** How many runs are in one state. */
export class WorkflowRunCountDto extends Answer({
  state: Shows.enum('WorkflowRunState', WorkflowRunState, 'Where they stand now.', 'FINISHED'),
  count: Shows.number('How many.', 118),
}) {}

/** What runs of workflows and their agents have used up. */
export class WorkflowUsageDto extends Answer({
  from: Shows.moment('They began at this time or later.', '2026-01-31T00:00:00.000Z'),
  to: Shows.moment('They began before this time.', '2026-01-31T10:20:30.123Z'),
  runs: Shows.list(() => WorkflowRunCountDto, 'Runs of all workflows, by state.'),
  agentRuns: Shows.number('Runs in which a language model was asked.', 42),
  modelCalls: Shows.number('How often one was asked.', 131),
  inputTokens: Shows.number('Tokens that models have read, as far as they told it.', 250_400),
  outputTokens: Shows.number('Tokens that models have written, as far as they told it.', 31_200),
  cost: Shows.decimalOrNull('In the currency of the provider; null where no model has told costs.', 1.25),
  complete: Shows.flag(
    'Whether the figures of agents are of all calls of the range; otherwise of the newest 10,000.',
    true,
  ),
}) {}
