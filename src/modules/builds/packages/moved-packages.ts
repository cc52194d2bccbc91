import { PackageMovedError } from '../model/builds.errors.js';

/** How often work on a package is done again because another one was stored meanwhile. */
const ATTEMPTS = 5;

/**
 * Does work that begins by reading the package of a version, and stores only if it is still there.
 * @throws what the work throws; PackageMovedError when others stored packages all the time
 */
export async function untilUnmoved<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PackageMovedError) || attempt >= ATTEMPTS) {
        throw error;
      }
    }
  }
}
