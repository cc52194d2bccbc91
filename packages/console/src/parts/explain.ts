import { AddressError, NoAnswerError, ServiceError } from '../../../client/src/index.js';
import { NoVersionError } from '../live/versions.js';
import { texts } from '../texts/texts.js';

/** An error in sentences: what it is, what the service says, what to do. */
export interface Explanation {
  title: string;
  /** In the words of the service. */
  said: string | undefined;
  details: string | undefined;
  todo: string;
  requestId: string | undefined;
}

const { errors } = texts;

const BY_STATUS: Readonly<Record<number, readonly [title: string, todo: string]>> = {
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

/** Explains whatever was thrown. */
export function explain(error: unknown): Explanation {
  if (error instanceof ServiceError) {
    const [title, todo] = sentencesOf(error);
    const { message, details, requestId } = error;
    return { title, said: message, details, todo, requestId };
  }
  const [title, todo] = otherSentencesOf(error);
  return { title, said: undefined, details: undefined, todo, requestId: undefined };
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
  if (error instanceof NoVersionError) {
    return [errors.noVersion, errors.noVersionTodo];
  }
  return [errors.unknown, errors.unknownTodo];
}

/** What the service says of single members (`client.name`), by their paths. */
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
