import type { EntityManager } from 'typeorm';
import { CommitUnansweredError, DatabaseDeadlineError, DatabaseOverloadedError } from '../database.errors.js';
import { GroupMember, WriteGroup, type Work } from './write-group.js';

/** Bounds of groups. */
export interface GroupLimits {
  /** Members of one group; with 1 there are no groups. DATABASE_GROUP_MAX. */
  members: number;
  /** Groups that are written at one time. DATABASE_GROUPS. */
  groups: number;
  /** Milliseconds of the processor that the members of a group may take in it. DATABASE_GROUP_WORK_MS. */
  workMs: number;
  /** Most that wait for a group. DATABASE_POOL_QUEUE. */
  waiting: number;
  /** Milliseconds after which nobody waits for a group any more. DATABASE_DEADLINE_MS. */
  waitMs: number;
  retryAfterSeconds: number;
}

/** What makes transactions. */
export interface Transactions {
  /** One transaction, repeated when it was rolled back for no fault of its own. */
  alone<Result>(work: Work<Result>): Promise<Result>;
  /** One transaction, tried once. */
  once(work: (manager: EntityManager) => Promise<void>): Promise<void>;
}

/** Where work is done. */
type Place =
  /** In a transaction of its own; `end` is to be called afterwards. */
  | { member: undefined; end: () => void }
  /** In a group; whether that was stored, when it is known. */
  | { member: GroupMember; isStored: Promise<boolean> };

interface Waiting {
  since: number;
  begin: (place: Place) => void;
  refuse: (error: unknown) => void;
}

/**
 * Group commit. Whatever has queued up while earlier transactions were under way is written by the next one. So nobody waits for others to
 * come, and a single caller has a transaction of its own.
 */
export class WriteQueue {
  /** What this replica has written since it began. */
  readonly written: Record<'groups' | 'shared' | 'own', number> = { groups: 0, shared: 0, own: 0 };
  private readonly waiting: Waiting[] = [];
  private running = 0;
  private isDue = false;

  constructor(
    private readonly transactions: Transactions,
    private readonly limits: GroupLimits,
  ) {}

  /**
   * Does work in a transaction that others may share.
   * @returns what the work returned, when it is stored
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

  /** Waits for a place, in the order in which all have come. */
  private place(since: number): Promise<Place> {
    if (this.waiting.length >= this.limits.waiting) {
      throw new DatabaseOverloadedError(this.limits.retryAfterSeconds);
    }
    return new Promise((begin, refuse) => {
      const later = this.waiting.findLastIndex((other) => other.since <= since) + 1;
      this.waiting.splice(later, 0, { since, begin, refuse });
      this.schedule();
    });
  }

  private schedule(): void {
    if (!this.isDue && this.waiting.length > 0 && this.running < this.limits.groups) {
      this.isDue = true;
      // Requests that were read in the same turn share the group.
      setImmediate(() => {
        this.isDue = false;
        this.begin();
      });
    }
  }

  private begin(): void {
    while (this.waiting.length > 0 && this.running < this.limits.groups) {
      const members = this.inTime(this.waiting.splice(0, this.limits.members));
      if (members.length > 0) {
        this.running += 1;
      }
      if (members.length > 1) {
        void this.write(members);
      } else {
        members[0]?.begin({ member: undefined, end: () => this.ended() });
      }
    }
  }

  private ended(): void {
    this.running -= 1;
    this.schedule();
  }

  private inTime(members: readonly Waiting[]): Waiting[] {
    const oldest = performance.now() - this.limits.waitMs;
    members
      .filter(({ since }) => since < oldest)
      .forEach(({ refuse }) => refuse(new DatabaseDeadlineError(this.limits.retryAfterSeconds)));
    return members.filter(({ since }) => since >= oldest);
  }

  /** Never rejects. */
  private async write(members: readonly Waiting[]): Promise<void> {
    let told: { resolve: (isStored: boolean) => void; reject: (error: unknown) => void } | undefined;
    const isStored = new Promise<boolean>((resolve, reject) => {
      told = { resolve, reject };
    });
    // Nobody looks at it when no work has begun.
    isStored.catch(() => undefined);
    try {
      await this.transactions.once(async (manager) => {
        const group = new WriteGroup(manager, this.limits.workMs);
        await group.run(members.length, (member, index) => {
          members[index]?.begin({ member, isStored });
        });
      });
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
    } finally {
      this.ended();
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
