import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { LeaveGroupError, type WriteGroup } from './write-group.js';

/** Runs SQL statements: an `EntityManager`, or a `SharedTransaction`. `Table` and `Selection` work with either. */
export interface SqlExecutor {
  readonly connection: DataSource;
  readonly queryRunner?: QueryRunner | undefined;
  query<Rows>(sql: string, values?: unknown[]): Promise<Rows>;
}

export type MemberOutcome<Result> =
  | { kind: 'DONE'; result: Result }
  | { kind: 'FAILED'; error: unknown }
  | { kind: 'LEFT'; to: LeaveGroupError['to'] };

/**
 * A transaction for `Database.writeTogether`, which the caller shares with the other members of its group; one without a group is the
 * caller's own. It offers only what works in both cases. After a LeaveGroupError, `Database` runs the caller's work again from its start.
 */
export class SharedTransaction implements SqlExecutor {
  /** Once a member may have written, its group cannot continue without it. */
  private hasWritten = false;
  private ended: () => void = () => undefined;
  private readonly end = new Promise<void>((resolve) => {
    this.ended = resolve;
  });
  private readonly runner: QueryRunner;

  /** @param group undefined for a transaction of the caller's own */
  constructor(
    private readonly manager: EntityManager,
    private readonly group?: WriteGroup,
  ) {
    if (manager.queryRunner === undefined) {
      throw new TypeError('A step needs a transaction.');
    }
    this.runner = manager.queryRunner;
  }

  get connection(): DataSource {
    return this.runner.connection;
  }

  get isInGroup(): boolean {
    return this.group !== undefined;
  }

  /** Runs a SELECT, with or without locks. Use `change` for every other statement. */
  query<Rows>(sql: string, values?: unknown[]): Promise<Rows> {
    return this.send(() => this.runner.query(sql, values) as Promise<Rows>);
  }

  /** Runs a statement that changes rows. @returns how many rows matched its conditions */
  async change(sql: string, values: readonly unknown[]): Promise<number> {
    this.hasWritten = true;
    return (await this.send(() => this.runner.query(sql, [...values], true))).affected ?? 0;
  }

  /** Reads together with members that make a request of the same kind at the same time. */
  async readInGroup<Part, Result>(
    kind: string,
    part: Part,
    read: (parts: readonly Part[]) => Promise<readonly Result[]>,
  ): Promise<Result> {
    return this.group === undefined
      ? ((await read([part]))[0] as Result)
      : this.group.statements.ask(kind, part, read);
  }

  /** Changes rows together with members that make a change of the same kind at the same time. */
  changeInGroup<Part, Result>(
    kind: string,
    part: Part,
    change: (parts: readonly Part[]) => Promise<readonly Result[]>,
  ): Promise<Result> {
    this.hasWritten = true;
    return this.readInGroup(kind, part, async (parts) => {
      try {
        return await change(parts);
      } catch (error) {
        this.group?.break(error);
        throw error;
      }
    });
  }

  /**
   * Requires a transaction on one group of shards. Call it before the first statement.
   * @param name of the group of shards, see `ShardGroups.nameOf`
   * @throws LeaveGroupError when earlier members use another one: the work runs again in the next group
   */
  requireShardGroup(name: string): void {
    this.group?.join(name);
  }

  /**
   * Waits for other members that hold the same key. Locks of the transaction do not separate its members.
   * @returns whether it had to wait: rows that were read before may have changed
   * @throws LeaveGroupError when the group has taken too long by then: the work runs again in the next group
   */
  async holdInGroup(key: string): Promise<boolean> {
    return this.group !== undefined && (await this.group.hold(key, this.end));
  }

  /**
   * Requires a transaction of the caller's own. Call it before the first write and before anything that may wait for rows which other
   * transactions hold.
   * @returns the manager of the caller's own transaction, for statements that no group can send
   * @throws LeaveGroupError in a group: the work runs again in a transaction of its own
   */
  requireOwnTransaction(): EntityManager {
    if (this.group !== undefined) {
      throw new LeaveGroupError('ALONE');
    }
    return this.manager;
  }

  /**
   * Runs CPU-bound work. A group limits its total, because all members wait for it.
   * @throws LeaveGroupError when the group has worked for too long: the caller's work runs again in the next group
   */
  computeInGroup<Result>(work: () => Result): Result {
    return this.group === undefined ? work() : this.group.compute(work);
  }

  /** Runs a member's work in its group. Never rejects. */
  async run<Result>(work: (transaction: this) => Promise<Result>): Promise<MemberOutcome<Result>> {
    try {
      return { kind: 'DONE', result: await work(this) };
    } catch (error) {
      if (this.hasWritten) {
        this.group?.break(error);
      }
      return error instanceof LeaveGroupError ? { kind: 'LEFT', to: error.to } : { kind: 'FAILED', error };
    } finally {
      this.ended();
    }
  }

  private send<Result>(statement: () => Promise<Result>): Promise<Result> {
    return this.group === undefined ? statement() : this.group.send(statement);
  }
}

/** The transaction that members of a group share; undefined for any other executor. */
export function sharedBy(executor: SqlExecutor): SharedTransaction | undefined {
  return executor instanceof SharedTransaction && executor.isInGroup ? executor : undefined;
}
