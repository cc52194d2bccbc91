import { Shows } from '../../../common/answer-fields.decorators.js';

/** Why a run, or a node of it, failed. */
export class WorkflowRunErrorDto {
  @Shows.value('Stable code.', 'CONDITION_FAILED')
  code: string;

  @Shows.textOrNull('Name of the node; null when it is about the whole run.', 'Score')
  node: string | null;

  @Shows.value('What happened.', 'No condition is true, and there is no default.')
  message: string;

  @Shows.textOrNull('What was wrong exactly; may quote the workflow and process data.', 'amount: is required')
  details: string | null;
}
