import type { EntityManager, QueryRunner } from 'typeorm';
import { SharedStatements } from './shared-statements.js';

/** A member cannot go on in its group, and has written nothing. Never leaves `Database`. */
class FellOutError extends Error {
  override readonly name = 'FellOutError';
  /** @param to where its work is done instead: in the next group, or in a transaction of its own */
  constructor(readonly to: 'NEXT' | 'ALONE') {
    super('Not in this group.');
  }
}

/** The transaction of a group must be rolled back; `cause` tells why. Never leaves `Database`. */
class GroupBrokenError extends Error {
  override readonly name = 'GroupBrokenError';
  constructor(cause: unknown) {
    super('The group was broken.', { cause });
  }
}

/** Ways of a manager that may write, beside `query`. */
const WRITERS = [
  'createQueryBuilder',
  'getRepository',
  'save',
  'insert',
  'update',
  'delete',
  'upsert',
] as const;
const READS = /^\s*SELECT\b/i;

export type MemberOutcome<Result> =
  | { kind: 'DONE'; result: Result }
  | { kind: 'FAILED'; error: unknown }
  | { kind: 'FELL_OUT'; to: FellOutError['to'] };

/** Work that is done with the manager of a transaction. */
export type Work<Result> = (manager: EntityManager) => Promise<Result>;

/**
 * One transaction that several members share. Their work goes on side by side, each with a manager of its own over the one
 * connection. A statement that fails, or a member that fails after it has written, breaks the group: then all of it is
 * rolled back.
 */
export class WriteGroup {
  readonly statements = new SharedStatements();
  readonly watching: object;
  private readonly begun = performance.now();
  private readonly runner: QueryRunner;
  private readonly holders = new Map<string, Promise<unknown>>();
  private name: string | undefined;
  private workedMs = 0;
  private queue: Promise<unknown> = Promise.resolve();
  private breach: unknown;

  constructor(
    readonly manager: EntityManager,
    private readonly workMs: number,
  ) {
    if (manager.queryRunner === undefined) {
      throw new TypeError('A group is a transaction.');
    }
    this.runner = manager.queryRunner;
    this.watching = watching(manager);
  }

  /**
   * Does the work of all members.
   * @param members each does its work as one, and never rejects
   * @throws GroupBrokenError when the transaction must be rolled back
   */
  async run<Outcome>(
    members: readonly ((member: GroupMember) => Promise<Outcome>)[],
  ): Promise<readonly Outcome[]> {
    const unguard = this.guardStatements();
    const outcomes = await Promise.all(members.map((join) => join(new GroupMember(this))));
    unguard();
    if (this.breach !== undefined) {
      throw new GroupBrokenError(this.breach);
    }
    return outcomes;
  }

  break(reason: unknown): void {
    this.breach ??= reason;
  }

  /** Lets members of one name only go on; the first to come decides. */
  join(name: string): void {
    this.name ??= name;
    if (this.name !== name) {
      throw new FellOutError('NEXT');
    }
  }

  /** Waits until no other member works with something, for as long as the group may take. @returns whether it waited */
  async hold(key: string, member: GroupMember): Promise<boolean> {
    const before = this.holders.get(key);
    this.holders.set(key, member.end);
    if (before === undefined) {
      return false;
    }
    await before;
    if (performance.now() - this.begun > this.workMs) {
      throw new FellOutError('NEXT');
    }
    return true;
  }

  /** Does work of the processor, and bounds it: members that come to theirs too late are for the next group. */
  work<Result>(work: () => Result): Result {
    if (this.workedMs > this.workMs) {
      throw new FellOutError('NEXT');
    }
    const begun = performance.now();
    try {
      return work();
    } finally {
      this.workedMs += performance.now() - begun;
    }
  }

  /**
   * A server that rolls a transaction back by itself would store each later statement at once. So they go one by one, and none after a
   * failure.
   * @returns ends it: COMMIT and ROLLBACK are sent by others
   */
  private guardStatements(): () => void {
    const { runner } = this;
    const send = runner.query.bind(runner) as QueryRunner['query'] &
      ((...args: unknown[]) => Promise<unknown>);
    const guarded = async (...args: unknown[]): Promise<unknown> => {
      if (this.breach !== undefined) {
        throw new GroupBrokenError(this.breach);
      }
      try {
        return await send(...args);
      } catch (error) {
        this.break(error);
        throw error;
      }
    };
    runner.query = (...args: unknown[]): Promise<never> => {
      const sent = this.queue.then(() => guarded(...args));
      this.queue = sent.catch(() => undefined);
      return sent as Promise<never>;
    };
    return () => {
      runner.query = send;
    };
  }
}

const MEMBERS = new WeakMap<EntityManager, GroupMember>();

/** The member of a group that a manager belongs to; undefined in a transaction of its own. */
export function memberOf(manager: EntityManager): GroupMember | undefined {
  return MEMBERS.get(manager);
}

export class GroupMember {
  /** Whether it may have written: then the group cannot go on without it. */
  hasWritten = false;
  private ended: () => void = () => undefined;
  readonly end = new Promise<void>((resolve) => {
    this.ended = resolve;
  });

  constructor(readonly group: WriteGroup) {}

  async run<Result>(work: Work<Result>): Promise<MemberOutcome<Result>> {
    try {
      return { kind: 'DONE', result: await work(this.manager()) };
    } catch (error) {
      if (this.hasWritten) {
        this.group.break(error);
      }
      return error instanceof FellOutError ? { kind: 'FELL_OUT', to: error.to } : { kind: 'FAILED', error };
    } finally {
      this.ended();
    }
  }

  write<Part, Result>(
    kind: string,
    part: Part,
    send: (parts: readonly Part[]) => Promise<readonly Result[]>,
  ): Promise<Result> {
    this.hasWritten = true;
    return this.group.statements.ask(kind, part, send);
  }

  private manager(): EntityManager {
    const own = Object.create(this.group.watching) as EntityManager;
    MEMBERS.set(own, this);
    return own;
  }
}

/** A manager that tells the member to which a manager made of it belongs what is written. */
function watching(shared: EntityManager): object {
  const made = Object.create(shared) as Record<string, unknown>;
  const writing = (name: string, writes: (first: unknown) => boolean): void => {
    made[name] = function send(this: EntityManager, ...args: unknown[]): unknown {
      if (writes(args[0])) {
        noteWrite(this);
      }
      return (shared as unknown as Record<string, (...args: unknown[]) => unknown>)[name]?.(...args);
    };
  };
  writing('query', (sql) => !READS.test(String(sql)));
  WRITERS.forEach((name) => writing(name, () => true));
  return made;
}

/** Notes that a statement that writes is sent past the manager. */
export function noteWrite(manager: EntityManager): void {
  const member = memberOf(manager);
  if (member !== undefined) {
    member.hasWritten = true;
  }
}

/**
 * Leaves the group, when there is one, for a transaction of its own: for what may wait for rows that others hold.
 * @throws FellOutError in a group
 */
export function leaveGroup(manager: EntityManager): void {
  if (memberOf(manager) !== undefined) {
    throw new FellOutError('ALONE');
  }
}

/**
 * Keeps apart who may not share a transaction. Before the first write.
 * @param name equal for all who may
 * @throws FellOutError in a group of another name
 */
export function joinGroup(manager: EntityManager, name: string): void {
  memberOf(manager)?.group.join(name);
}

/**
 * Keeps other members of the group, when there is one, away from what a lock of the transaction does not keep them from.
 * @returns whether it had to wait for one: then what was read before may be another by now
 * @throws FellOutError when the group has taken too long by then
 */
export async function holdInGroup(manager: EntityManager, key: string): Promise<boolean> {
  const member = memberOf(manager);
  return member !== undefined && (await member.group.hold(key, member));
}

/**
 * Does work of the processor in a transaction. In a group it is bounded, since all members wait for it.
 * @throws FellOutError when the group has worked for too long
 */
export function workInGroup<Result>(manager: EntityManager, work: () => Result): Result {
  const member = memberOf(manager);
  return member === undefined ? work() : member.group.work(work);
}
