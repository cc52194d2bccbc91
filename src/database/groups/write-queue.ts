import type { EntityManager } from 'typeorm';
import { currentSpan, inSharedSpan } from '../../common/tracing/spans.js';
import { CommitUnansweredError, DatabaseDeadlineError, DatabaseOverloadedError } from '../database.errors.js';
import { GroupQueue, type GroupLimits, type Waiting } from './group-queue.js';
import { GroupMember, WriteGroup, type Work } from './write-group.js';

/** Bounds of groups that write. */
export interface WriteLimits extends GroupLimits {
  workMs: number;
}

/** What makes transactions. */
export interface Transactions {
  alone<Result>(work: Work<Result>): Promise<Result>;
  once(work: (manager: EntityManager) => Promise<void>): Promise<void>;
}

type Place =
  /** In a transaction of its own; `end` is to be called afterwards. */
  | { member: undefined; end: () => void }
  /** In a group; whether that was stored, when it is known. */
  | { member: GroupMember; isStored: Promise<boolean> };

interface Writer extends Waiting {
  begin: (place: Place) => void;
}

/** Group commit: a group of `GroupQueue` is written by one transaction. A single caller has a transaction of its own. */
export class WriteQueue {
  readonly written: Record<'groups' | 'shared' | 'own', number> = { groups: 0, shared: 0, own: 0 };
  private readonly queue: GroupQueue<Writer>;

  constructor(
    private readonly transactions: Transactions,
    private readonly limits: WriteLimits,
  ) {
    this.queue = new GroupQueue(limits, (members) => this.begin(members));
  }

  /**
   * Does work in a transaction that others may share.
   * @throws what the work throws, and whatever the transaction does
   */
  async add<Result>(work: Work<Result>): Promise<Result> {
    const since = performance.now();
    for (;;) {
      const place = await this.place(since);
      if (place.member === undefined) {
        return this.alone(work).finally(place.end);
      }
      const ended = place.member.run(work);
      const isStored = await place.isStored;
      const outcome = await ended;
      if (!isStored || (outcome.kind === 'FELL_OUT' && outcome.to === 'ALONE')) {
        return this.alone(work);
      }
      if (outcome.kind === 'DONE') {
        this.written.shared += 1;
        return outcome.result;
      }
      if (outcome.kind === 'FAILED') {
        throw outcome.error;
      }
    }
  }

  private async alone<Result>(work: Work<Result>): Promise<Result> {
    const result = await this.transactions.alone(work);
    this.written.own += 1;
    return result;
  }

  private place(since: number): Promise<Place> {
    return new Promise((begin, refuse) => this.queue.add({ since, span: currentSpan(), begin, refuse }));
  }

  private begin(members: readonly Writer[]): Promise<void> {
    const [first] = members;
    return members.length > 1 || first === undefined
      ? this.write(members)
      : new Promise((end) => first.begin({ member: undefined, end }));
  }

  /** Never rejects. */
  private async write(members: readonly Writer[]): Promise<void> {
    let told: { resolve: (isStored: boolean) => void; reject: (error: unknown) => void } | undefined;
    const isStored = new Promise<boolean>((resolve, reject) => {
      told = { resolve, reject };
    });
    // Nobody looks at it when no work has begun.
    isStored.catch(() => undefined);
    try {
      await inSharedSpan(
        'shared transaction',
        members.map(({ span }) => span),
        () =>
          this.transactions.once(async (manager) => {
            const group = new WriteGroup(manager, this.limits.workMs);
            await group.run(members.length, (member, index) => {
              members[index]?.begin({ member, isStored });
            });
          }),
      );
      this.written.groups += 1;
      told?.resolve(true);
    } catch (error) {
      // Nothing of a broken group is stored, and nobody knows whose fault it was. Who has begun already goes on by itself.
      if (isFinal(error)) {
        told?.reject(error);
        members.forEach(({ refuse }) => refuse(error));
      } else {
        told?.resolve(false);
        members.forEach(({ begin }) => begin({ member: undefined, end: () => undefined }));
      }
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
