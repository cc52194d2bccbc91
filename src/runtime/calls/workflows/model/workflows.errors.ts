import { InternalError, NotFoundError } from '../../../../platform/errors/domain.error.js';
import type { WorkflowRunError } from './workflow.types.js';

/** Longest message and details; they are kept with the run and shown in an incident. */
const TEXT_MAX_LENGTH = 1_000;

/** Why a run can fail. */
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
 * A workflow run failed: by its definition or by its data, so that running it again gives the same. Becomes an incident of
 * the process. The message is ours, with names out of the definition; `details` may also quote data of the process.
 */
export class WorkflowFailedError extends InternalError {
  /** Name of the node that failed; null when it is about the whole run. */
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

  /** The same failure, told of a node, unless it is told of one already. */
  at(node: string): WorkflowFailedError {
    const { code, message, details, cause } = this;
    return this.node === null ? new WorkflowFailedError(code, message, { node, details, cause }) : this;
  }

  /** How a run keeps it. */
  toRecord(): WorkflowRunError {
    return { code: this.code, node: this.node, message: this.message, details: this.details ?? null };
  }
}

/** A workflow has ended with a BPMN error, as its author meant it to: a node of type END with an error code. No failure. */
export class WorkflowBpmnError extends InternalError {
  readonly code = 'WORKFLOW_BPMN_ERROR';
  /** @param errorCode code of the BPMN error */
  constructor(readonly errorCode: string) {
    super('The workflow ended with a BPMN error.');
  }
}

/** The run was cancelled or has begun anew elsewhere: this attempt of it may call nobody and store nothing more. */
export class RunReplacedError extends InternalError {
  readonly code = 'WORKFLOW_RUN_REPLACED';
  constructor() {
    super('The workflow run is no longer made by this worker.');
  }
}

/**
 * What an outside call throws when it certainly had no effect: it was not made at all, or the other side refused it. `cause` is
 * why, and a later attempt may make it again.
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
 * An outside call throws it when nobody knows whether the call had an effect, and it must not be made twice. The run fails with
 * CALL_OUTCOME_UNKNOWN, so that a person decides. The message is a sentence that says what happened.
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
