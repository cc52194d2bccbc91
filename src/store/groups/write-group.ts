import { SharedStatements } from './shared-statements.js';

/** A member cannot continue in its group and has written nothing. Never leaves `Database`. */
export class LeaveGroupError extends Error {
  override readonly name = 'LeaveGroupError';
  /** @param to where the member's work runs instead: in the next group, or in a transaction of its own */
  constructor(readonly to: 'NEXT' | 'ALONE') {
    super('Not in this group.');
  }
}

/** The transaction of a group must be rolled back; `cause` is the reason. Never leaves `Database`. */
class GroupBrokenError extends Error {
  override readonly name = 'GroupBrokenError';
  constructor(cause: unknown) {
    super('The group was broken.', { cause });
  }
}

/**
 * One transaction that several members share. Their work runs concurrently on one connection, each through a `SharedTransaction` of its own.
 * A statement that fails, or a member that fails after it has written, breaks the group: the whole transaction is rolled back.
 */
export class WriteGroup {
  readonly statements = new SharedStatements();
  private readonly begun = performance.now();
  private readonly holders = new Map<string, Promise<unknown>>();
  private name: string | undefined;
  private workedMs = 0;
  private queue: Promise<unknown> = Promise.resolve();
  private breach: unknown;

  constructor(private readonly workMs: number) {}

  /**
   * Runs the work of all members.
   * @param members must not reject
   * @throws GroupBrokenError when the transaction must be rolled back
   */
  async run<Outcome>(members: readonly (() => Promise<Outcome>)[]): Promise<readonly Outcome[]> {
    const outcomes = await Promise.all(members.map((member) => member()));
    if (this.breach !== undefined) {
      throw new GroupBrokenError(this.breach);
    }
    return outcomes;
  }

  /**
   * Sends statements one after another, and none after a failure: a server that has rolled the transaction back would store each later
   * statement immediately.
   */
  send<Result>(statement: () => Promise<Result>): Promise<Result> {
    const sent = this.queue.then(() => this.guarded(statement));
    this.queue = sent.catch(() => undefined);
    return sent;
  }

  break(reason: unknown): void {
    this.breach ??= reason;
  }

  /** Admits only members of one name. The first member decides. */
  join(name: string): void {
    this.name ??= name;
    if (this.name !== name) {
      throw new LeaveGroupError('NEXT');
    }
  }

  /**
   * Waits until no other member holds the key, as long as the group may take.
   * @param end resolves when the member ends
   * @returns whether it had to wait
   */
  async hold(key: string, end: Promise<void>): Promise<boolean> {
    const before = this.holders.get(key);
    this.holders.set(key, end);
    if (before === undefined) {
      return false;
    }
    await before;
    if (performance.now() - this.begun > this.workMs) {
      throw new LeaveGroupError('NEXT');
    }
    return true;
  }

  /** Runs CPU-bound work within the time budget of the group. Members beyond the budget move to the next group. */
  compute<Result>(work: () => Result): Result {
    if (this.workedMs > this.workMs) {
      throw new LeaveGroupError('NEXT');
    }
    const begun = performance.now();
    try {
      return work();
    } finally {
      this.workedMs += performance.now() - begun;
    }
  }

  private async guarded<Result>(statement: () => Promise<Result>): Promise<Result> {
    if (this.breach !== undefined) {
      throw new GroupBrokenError(this.breach);
    }
    try {
      return await statement();
    } catch (error) {
      this.break(error);
      throw error;
    }
  }
}
