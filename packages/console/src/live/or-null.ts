import { ServiceError } from '../../../client/src/index.js';

const NOT_FOUND = 404;

/** What a call gives; null where the service says that it is not there (404). @throws whatever else the call throws */
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
