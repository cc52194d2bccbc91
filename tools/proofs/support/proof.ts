import type { DatabaseKind } from '../../../test/support/databases/server-program.js';
import type { ProofEnvironment } from './proof-environment.js';

/** A long proof: it drives real processes on real databases and measures what happens to callers. */
export interface Proof {
  /** One word for the command line and the table. */
  name: string;
  /** What is proved, in one sentence. */
  claim: string;
  /** Databases it is run on, one table row each. */
  databases: readonly DatabaseKind[];
  /** Those of a short run, one in most: the servers by turns. @default all */
  shortDatabases?: readonly DatabaseKind[];
  /** Longer than most in a short run, which therefore begins with it. */
  takesLong?: boolean;
  /** Tests, which fill the processors. */
  isSuite?: boolean;
  /** The database server is killed on the way, so that one of our own is needed, with full durability. */
  needsOwnServer?: boolean;
  /** What the machine lacks for it beside a database, in one sentence; undefined when it can be run. */
  obstacle?(): Promise<string | undefined>;
  /**
   * @returns the figures measured, for the table
   * @throws ProofError, or any error, when the claim does not hold
   */
  run(environment: ProofEnvironment): Promise<string>;
}

/** The claim of a proof does not hold. */
export class ProofError extends Error {
  override readonly name = 'ProofError';
}

/** Fails the proof unless `holds`. */
export function prove(holds: boolean, otherwise: string): asserts holds {
  if (!holds) {
    throw new ProofError(otherwise);
  }
}

/**
 * Does `work` for 0 … count-1, at most `concurrency` at a time.
 * @returns the results in the order of the numbers
 * @throws the first error, once the work under way has ended
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
 * The value that a part of them does not exceed.
 * @param part from above 0 to 1
 */
export function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? Number.NaN;
}

/** The one in the middle. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}
