import { Answer, Shows, Fields } from '../../../../platform/openapi/answer-fields.decorators.js';
import { inRange } from '../../../../platform/validation/query.decorators.js';
import { WorkflowRunState } from '../model/workflow.types.js';

/** Time range of the usage. */
export class WorkflowUsageQueryDto extends Fields({
  ...inRange('runs and calls that began'),
}) {}

/** Number of runs in one state. */
export class WorkflowRunCountDto extends Answer({
  state: Shows.enum('WorkflowRunState', WorkflowRunState, 'State of the runs.', 'FINISHED'),
  count: Shows.number('Number of runs.', 118),
}) {}

/** Usage of workflow runs and their agents. */
export class WorkflowUsageDto extends Answer({
  from: Shows.moment('Start of the time range, inclusive.', '2026-01-31T00:00:00.000Z'),
  to: Shows.moment('End of the time range, exclusive.', '2026-01-31T10:20:30.123Z'),
  runs: Shows.list(() => WorkflowRunCountDto, 'Runs of all workflows by state.'),
  agentRuns: Shows.number('Number of runs that called a language model.', 42),
  modelCalls: Shows.number('Number of model calls.', 131),
  inputTokens: Shows.number('Input tokens reported by models.', 250_400),
  outputTokens: Shows.number('Output tokens reported by models.', 31_200),
  cost: Shows.decimalOrNull('Cost in the currency of the provider; null if no model reported any.', 1.25),
  complete: Shows.flag(
    'Whether the figures of agents cover all calls in the range; if false, only the newest 10,000.',
    true,
  ),
}) {}
