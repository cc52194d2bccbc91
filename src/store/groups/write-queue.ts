import { AsyncResource } from 'node:async_hooks';
import { currentSpan, inSharedSpan } from '../../platform/observability/tracing/spans.js';
import { CommitUnansweredError, DatabaseDeadlineError, DatabaseOverloadedError } from '../database.errors.js';
import { GroupQueue, type GroupLimits, type Waiting } from './group-queue.js';
import { type GroupMember, type MemberOutcome, WriteGroup, type Work } from './write-group.js';

export interface Transactions {
  alone<Result>(work: Work<Result>): Promise<Result>;
  once<Result>(work: Work<Result>): Promise<Result>;
}

/** One whose work waits. Both ways to do it run where it was asked for. */
interface Writer extends Waiting {
  /** In a transaction of its own; never rejects. */
  alone: () => Promise<void>;
  join: (member: GroupMember) => Promise<MemberOutcome<unknown>>;
  resolve: (result: never) => void;
}

/** Group commit: a group of `GroupQueue` is written by one transaction. A single caller has a transaction of its own. */
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
   * Does work in a transaction that others may share.
   * @throws what the work throws, and whatever the transaction does
   */
  add<Result>(work: Work<Result>): Promise<Result> {
    return new Promise((resolve, refuse) => {
      const alone = (): Promise<void> => this.alone(work).then(resolve, refuse);
      this.queue.add({
        since: performance.now(),
        span: currentSpan(),
        alone: AsyncResource.bind(alone),
        join: AsyncResource.bind((member: GroupMember) => member.run(work)),
        resolve,
        refuse,
      });
    });
  }

  private async alone<Result>(work: Work<Result>): Promise<Result> {
    const result = await this.transactions.alone(work);
    this.written.own += 1;
    return result;
  }

  /** Never rejects. */
  private async write(writers: readonly Writer[]): Promise<void> {
    const spans = writers.map(({ span }) => span);
    const members = writers.map(({ join }) => join);
    try {
      const outcomes = await inSharedSpan('shared transaction', spans, () =>
        this.transactions.once((manager) => new WriteGroup(manager, this.limits.workMs).run(members)),
      );
      this.written.groups += 1;
      writers.forEach((writer, index) => this.end(writer, outcomes[index] as MemberOutcome<never>));
    } catch (error) {
      // Nothing of a broken group is stored, and nobody knows whose fault it was.
      writers.forEach(({ alone, refuse }) => (isFinal(error) ? refuse(error) : void alone()));
    }
  }

  private end(writer: Writer, outcome: MemberOutcome<never>): void {
    if (outcome.kind === 'DONE') {
      this.written.shared += 1;
      writer.resolve(outcome.result);
    } else if (outcome.kind === 'FAILED') {
      writer.refuse(outcome.error);
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
      writer.refuse(error);
    }
  }
}

/** Whether nothing would come of another try. */
function isFinal(error: unknown): boolean {
  return (
    error instanceof CommitUnansweredError ||
    error instanceof DatabaseDeadlineError ||
    error instanceof DatabaseOverloadedError
  );
}
