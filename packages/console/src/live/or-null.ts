import { ServiceError } from '../../../client/src/index.js';

const NOT_FOUND = 404;

/** Resolves to the result of a call, or to null if the service answers 404. @throws all other errors of the call */
export async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ServiceError && error.status === NOT_FOUND) {
      return null;
    }
    throw error;
  }
}
