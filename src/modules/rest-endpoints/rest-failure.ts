import {
  LASTING,
  NOT_REACHED,
  OutboundError,
  type OutboundFailure,
} from '../../common/outbound/outbound.error.js';
import { restLimits } from './rest.limits.js';
import { CallNotMadeError, WorkflowFailedError } from '../workflows/model/workflows.errors.js';

/** Failures before a byte of the request was sent. */
const NEVER_SENT: ReadonlySet<OutboundFailure> = new Set([...NOT_REACHED, 'busy']);
/** Statuses that say: later perhaps. */
const PASSING_STATUS: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** A call that failed, and what follows from it. */
export class RestFailure extends Error {
  override readonly name = 'RestFailure';

  private constructor(
    /** For readers of the run. */
    readonly outcome: string,
    readonly failure: WorkflowFailedError,
    /** Whether the system has certainly done nothing. */
    readonly hadNoEffect: boolean,
    /** Whether another try may go better. */
    readonly passes: boolean,
    /** HTTP status of an answer that is no success. */
    readonly status?: number,
  ) {
    super(outcome);
  }

  /** Of an answer that is no success. */
  static ofStatus(status: number): RestFailure {
    const isRefusal = status < 500 && status !== 408;
    const doubt = isRefusal ? '' : ' Whether the call had an effect is not known.';
    const message = `The system answered with status ${status}.${doubt}`;
    const failure = new WorkflowFailedError('REST_STATUS', message);
    return new RestFailure(`HTTP_${status}`, failure, isRefusal, PASSING_STATUS.has(status), status);
  }

  /** Of a call that another try would not make either. @param message for readers of the run */
  static notMade(message: string): RestFailure {
    return new RestFailure('NOT_MADE', new WorkflowFailedError('REST_CALL_FAILED', message), true, false);
  }

  /** Of a call for which no token could be got. @param message a sentence of ours, with no word of the endpoint */
  static ofToken(message: string): RestFailure {
    const told = `The system got no access token for its service account. ${message}`;
    return new RestFailure('TOKEN', new WorkflowFailedError('REST_CALL_FAILED', told), true, true);
  }

  /** Of whatever a call threw. @throws the error itself when it is none of a call */
  static of(error: unknown): RestFailure {
    if (error instanceof RestFailure) {
      return error;
    }
    if (error instanceof WorkflowFailedError) {
      return new RestFailure(error.code, error, false, false);
    }
    if (!(error instanceof OutboundError)) {
      throw error;
    }
    const neverSent = NEVER_SENT.has(error.failure);
    return new RestFailure(
      error.failure.toUpperCase(),
      failureOf(error.failure, neverSent),
      neverSent,
      !LASTING.has(error.failure),
    );
  }

  /** How a journaled call throws it: what had no effect leaves no trace there. */
  toJournal(): Error {
    return this.hadNoEffect ? new CallNotMadeError(this.failure, this.outcome) : this.failure;
  }
}

function failureOf(failure: OutboundFailure, neverSent: boolean): WorkflowFailedError {
  if (failure === 'too_large') {
    const message = `The answer of the system is larger than ${restLimits.maxResponseBytes} bytes; it is refused, not cut.`;
    return new WorkflowFailedError('REST_RESPONSE_INVALID', message);
  }
  const known = neverSent ? 'It was not sent' : 'Whether it had an effect is not known';
  return new WorkflowFailedError('REST_CALL_FAILED', `The call of the system failed: ${failure}. ${known}.`);
}
