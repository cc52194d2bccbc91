import type { DatabaseKind } from '../../../test/support/databases/server-program.js';
import type { ProofEnvironment } from './proof-environment.js';

/** A long-running proof, which uses real processes and databases and measures the effects on callers. */
export interface Proof {
  /** One word for the command line and the table. */
  name: string;
  /** The proved statement, in one sentence. */
  claim: string;
  /** Databases on which it runs, one table row each. */
  databases: readonly DatabaseKind[];
  /** Databases of a short run, usually one, alternating between the servers. @default all */
  shortDatabases?: readonly DatabaseKind[];
  /** Whether a short run takes long, so that it starts first. */
  takesLong?: boolean;
  /** Whether it is a test suite, which saturates the processors. */
  isSuite?: boolean;
  /** Whether the database server is killed, so that a separate, durable server is needed. */
  needsOwnServer?: boolean;
  /** Returns why it cannot run on this machine, other than a missing database; undefined if it can run. */
  obstacle?(): Promise<string | undefined>;
  /**
   * Runs the proof.
   * @returns the measured figures, for the table
   * @throws ProofError, or any error, when the claim does not hold
   */
  run(environment: ProofEnvironment): Promise<string>;
}

/** Thrown when the claim of a proof does not hold. */
export class ProofError extends Error {
  override readonly name = 'ProofError';
}

/** Fails the proof with a message unless the condition holds. */
export function prove(condition: boolean, message: string): asserts condition {
  if (!condition) {
    throw new ProofError(message);
  }
}

/**
 * Runs `work` for 0 … count-1, at most `concurrency` concurrently.
 * @returns the results in order
 * @throws the first error, after all running work has ended
 */
export async function doNumbered<T>(
  count: number,
  concurrency: number,
  work: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      results[index] = await work(index);
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(concurrency, count) }, worker));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) {
    throw failure.reason;
  }
  return results;
}

/**
 * Returns a percentile.
 * @param share from above 0 to 1
 */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;
}

/** Returns the median. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}
