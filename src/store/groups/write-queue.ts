import { AsyncResource } from 'node:async_hooks';
import type { EntityManager } from 'typeorm';
import { currentSpan, inSharedSpan } from '../../platform/observability/tracing/spans.js';
import { CommitUnansweredError, DatabaseDeadlineError, DatabaseOverloadedError } from '../database.errors.js';
import { GroupQueue, type GroupLimits, type Waiting } from './group-queue.js';
import { SharedTransaction, type MemberOutcome } from './shared-transaction.js';
import { WriteGroup } from './write-group.js';

/** Runs a transaction. */
type Transact = <Result>(work: (manager: EntityManager) => Promise<Result>) => Promise<Result>;

export interface Transactions {
  /** Retries the transaction. */
  alone: Transact;
  once: Transact;
}

/** Work of a writer in a transaction that it may share with others. */
export type GroupWork<Result> = (transaction: SharedTransaction) => Promise<Result>;

/** A caller whose work waits. Its work runs in the async context of the caller. */
interface Writer extends Waiting {
  /** Runs the work in a transaction of its own; never rejects. */
  alone: () => Promise<void>;
  join: (transaction: SharedTransaction) => Promise<MemberOutcome<unknown>>;
  resolve: (result: never) => void;
}

/** Group commit: writes each group of a `GroupQueue` in one transaction. A single caller gets a transaction of its own. */
export class WriteQueue {
  readonly written: Record<'groups' | 'shared' | 'own', number> = { groups: 0, shared: 0, own: 0 };
  private readonly queue: GroupQueue<Writer>;

  constructor(
    private readonly transactions: Transactions,
    private readonly limits: GroupLimits & { workMs: number },
  ) {
    this.queue = new GroupQueue(limits, async (writers) => {
      await (writers.length > 1 ? this.write(writers) : writers[0]?.alone());
    });
  }

  /**
   * Runs work in a transaction that it may share with other callers.
   * @throws what the work or the transaction throws
   */
  add<Result>(work: GroupWork<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      // `AsyncResource.bind` would take a percent of a step's processor time.
      const caller = new AsyncResource('WriteQueue');
      const alone = (): Promise<void> => this.alone(work).then(resolve, reject);
      this.queue.add({
        since: performance.now(),
        span: currentSpan(),
        alone: () => caller.runInAsyncScope(alone),
        join: (transaction) => caller.runInAsyncScope(() => transaction.run(work)),
        resolve,
        reject,
      });
    });
  }

  private async alone<Result>(work: GroupWork<Result>): Promise<Result> {
    const result = await this.transactions.alone((manager) => work(new SharedTransaction(manager)));
    this.written.own += 1;
    return result;
  }

  /** Never rejects. */
  private async write(writers: readonly Writer[]): Promise<void> {
    const spans = writers.map(({ span }) => span);
    try {
      const outcomes = await inSharedSpan('shared transaction', spans, () =>
        this.transactions.once((manager) => this.inGroup(manager, writers)),
      );
      this.written.groups += 1;
      writers.forEach((writer, index) => this.end(writer, outcomes[index] as MemberOutcome<never>));
    } catch (error) {
      // Nothing of a broken group is stored, and any member may have broken it.
      writers.forEach(({ alone, reject }) => (isFinal(error) ? reject(error) : void alone()));
    }
  }

  private inGroup(
    manager: EntityManager,
    writers: readonly Writer[],
  ): Promise<readonly MemberOutcome<unknown>[]> {
    const group = new WriteGroup(this.limits.workMs);
    return group.run(
      writers.map(
        ({ join }) =>
          () =>
            join(new SharedTransaction(manager, group)),
      ),
    );
  }

  private end(writer: Writer, outcome: MemberOutcome<never>): void {
    if (outcome.kind === 'DONE') {
      this.written.shared += 1;
      writer.resolve(outcome.result);
    } else if (outcome.kind === 'FAILED') {
      writer.reject(outcome.error);
    } else if (outcome.to === 'ALONE') {
      void writer.alone();
    } else {
      this.again(writer);
    }
  }

  private again(writer: Writer): void {
    try {
      this.queue.add(writer);
    } catch (error) {
      writer.reject(error);
    }
  }
}

/** Whether a retry would be useless. */
function isFinal(error: unknown): boolean {
  return (
    error instanceof CommitUnansweredError ||
    error instanceof DatabaseDeadlineError ||
    error instanceof DatabaseOverloadedError
  );
}
