import { AddressError, NoAnswerError, ServiceError } from '../../../client/src/index.js';
import { MissingEtagError } from '../live/versions.js';
import { texts } from '../texts/texts.js';

/** Explanation of an error: what happened, the message of the service, what to do. */
export interface Explanation {
  title: string;
  /** Message of the service. */
  message: string | undefined;
  details: string | undefined;
  advice: string;
  requestId: string | undefined;
}

const { errors } = texts;

const BY_STATUS: Readonly<Record<number, readonly [title: string, advice: string]>> = {
  400: [errors.invalid, errors.invalidTodo],
  401: [errors.ended, errors.endedTodo],
  403: [errors.forbidden, errors.forbiddenTodo],
  404: [errors.notFound, errors.notFoundTodo],
  409: [errors.conflict, errors.conflictTodo],
  412: [errors.changed, errors.changedTodo],
  422: [errors.invalid, errors.invalidTodo],
  428: [errors.changed, errors.changedTodo],
  503: [errors.unavailable, errors.unavailableTodo],
};
const TOO_MANY = 429;

/** Explains an error of any kind. */
export function explain(error: unknown): Explanation {
  if (error instanceof ServiceError) {
    const [title, advice] = sentencesOf(error);
    const { message, details, requestId } = error;
    return { title, message, details, advice, requestId };
  }
  const [title, advice] = otherSentencesOf(error);
  return { title, message: undefined, details: undefined, advice, requestId: undefined };
}

function sentencesOf({ status, retryAfterSeconds }: ServiceError): readonly [string, string] {
  if (status === TOO_MANY) {
    return [errors.tooMany, errors.tooManyTodo(retryAfterSeconds ?? 1)];
  }
  return BY_STATUS[status] ?? [errors.server, errors.serverTodo];
}

function otherSentencesOf(error: unknown): readonly [string, string] {
  if (error instanceof NoAnswerError) {
    return error.code === 'TIMEOUT'
      ? [errors.tooSlow, errors.tooSlowTodo]
      : [errors.noAnswer, errors.noAnswerTodo];
  }
  if (error instanceof AddressError) {
    return [errors.unsafe, errors.unsafeTodo];
  }
  if (error instanceof MissingEtagError) {
    return [errors.noVersion, errors.noVersionTodo];
  }
  return [errors.unknown, errors.unknownTodo];
}

/** Returns the messages of the service about single fields, by path (`client.name`). */
export function fieldErrors(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ServiceError) || error.details === undefined) {
    return {};
  }
  const { message } = error;
  return Object.fromEntries(
    error.details.split(/;\s*/).map((detail) => {
      const [path = '', ...rule] = detail.split(':');
      return [path.trim(), rule.join(':').trim() || message] as const;
    }),
  );
}
