import { InternalError, NotFoundError } from '../../../../platform/errors/domain.error.js';
import type { WorkflowRunError } from './workflow.types.js';

/** Maximum length of message and details, which are stored with the run and shown in incidents. */
const TEXT_MAX_LENGTH = 1_000;

/** Error code of a failed run. */
export type WorkflowFailure =
  | 'BUILD_DAMAGED'
  | 'WORKFLOW_NOT_FOUND'
  | 'WORKFLOW_INVALID'
  | 'WORKFLOW_INPUT_INVALID'
  | 'WORKFLOW_OUTPUT_INVALID'
  | 'WORKFLOW_NODE_LIMIT'
  | 'WORKFLOW_DATA_LIMIT'
  | 'WORKFLOW_DEPTH_LIMIT'
  | 'WORKFLOW_DEADLINE'
  | 'NODE_TYPE_NOT_SUPPORTED'
  | 'NODE_INPUT_INVALID'
  | 'NODE_RESULT_INVALID'
  | 'NODE_NOT_FOUND'
  | 'NODE_LEADS_NOWHERE'
  | 'CONDITION_FAILED'
  | 'SUBWORKFLOW_NOT_FOUND'
  | 'SUBWORKFLOW_FAILED'
  | 'CALL_OUTCOME_UNKNOWN'
  | 'REST_SYSTEM_MISSING'
  | 'REST_CALL_FAILED'
  | 'REST_STATUS'
  | 'REST_RESPONSE_INVALID'
  | 'AGENT_NOT_CONFIGURED'
  | 'AGENT_NO_TOOLS'
  | 'AGENT_TOO_MANY_TOOLS'
  | 'AGENT_ITERATION_LIMIT'
  | 'AGENT_TOKEN_LIMIT'
  | 'AGENT_TOKEN_QUOTA'
  | 'AGENT_DEADLINE'
  | 'AGENT_ANSWER_INVALID'
  | 'AGENT_MODEL_FAILED';

/**
 * A workflow run failed because of its definition or data, so that a retry would fail too. Becomes an incident of the process.
 * The message contains only names from the definition; `details` may also contain process data.
 */
export class WorkflowFailedError extends InternalError {
  /** Name of the failed node; null when the failure concerns the whole run. */
  readonly node: string | null;

  constructor(
    readonly code: WorkflowFailure,
    message: string,
    {
      node = null,
      details,
      cause,
    }: { node?: string | null; details?: string | undefined; cause?: unknown } = {},
  ) {
    super(message.slice(0, TEXT_MAX_LENGTH), details?.slice(0, TEXT_MAX_LENGTH), { cause });
    this.node = node;
  }

  /** Returns the failure with a node, unless it already has one. */
  at(node: string): WorkflowFailedError {
    const { code, message, details, cause } = this;
    return this.node === null ? new WorkflowFailedError(code, message, { node, details, cause }) : this;
  }

  /** Returns the form that is stored with the run. */
  toRecord(): WorkflowRunError {
    return { code: this.code, node: this.node, message: this.message, details: this.details ?? null };
  }
}

/** A workflow ended at an END node with an error code. This is an intended outcome, not a failure. */
export class WorkflowBpmnError extends InternalError {
  readonly code = 'WORKFLOW_BPMN_ERROR';
  /** @param errorCode code of the BPMN error */
  constructor(readonly errorCode: string) {
    super('The workflow ended with a BPMN error.');
  }
}

/** The run was cancelled or restarted by another worker, so this attempt must make no more calls and store nothing. */
export class RunReplacedError extends InternalError {
  readonly code = 'WORKFLOW_RUN_REPLACED';
  constructor() {
    super('Another worker has taken over the workflow run, or it was cancelled.');
  }
}

/**
 * An outside call certainly had no effect: it was not made or was rejected. `cause` is the reason; a later attempt may
 * repeat the call.
 */
export class CallNotMadeError extends InternalError {
  readonly code = 'WORKFLOW_CALL_NOT_MADE';
  /** @param outcome for readers of the run, see CallResponse.outcome */
  constructor(
    override readonly cause: Error,
    readonly outcome = 'NOT_MADE',
  ) {
    super('The call was not made.', undefined, { cause });
  }
}

/**
 * It is unknown whether an outside call that must not be repeated had an effect. The run fails with CALL_OUTCOME_UNKNOWN, so that
 * a person decides. The message is a sentence that describes what happened.
 */
export class CallOutcomeUnknownError extends InternalError {
  readonly code = 'WORKFLOW_CALL_UNKNOWN';
  /** @param outcome for readers of the run, see CallResponse.outcome */
  constructor(
    message: string,
    readonly outcome: string,
  ) {
    super(message);
  }
}

/** 404: there is no workflow run with this id. */
export class WorkflowRunNotFoundError extends NotFoundError {
  readonly code = 'WORKFLOW_RUN_NOT_FOUND';
  constructor() {
    super('Workflow run not found.');
  }
}
