import type { DatabaseKind } from '../../support/databases/server-program.js';
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
