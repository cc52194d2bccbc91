import type { Pool, ResultSetHeader } from 'mysql2/promise';
import { joinStatement, type JoinedStatement } from './joined-statement.js';

/** Most requests of a shared transaction, and transactions at one time: as the service has them by default. */
const GROUP_MAX = 32;
const GROUPS = 2;

interface Queued {
  ids: readonly string[];
  end: (failure?: unknown) => void;
}

/**
 * The statements of one recorded request, sent again for other rows without anything around them: the ids in their texts
 * are replaced, everything else stays as the service sent it.
 */
export class Replay {
  private readonly statements: readonly JoinedStatement[];
  private readonly queue: Queued[] = [];
  private groups = 0;

  /**
   * @param statements as the server logged them, BEGIN and COMMIT included
   * @param ids what differs from request to request: numbers and UUIDs that occur nowhere else in the texts
   */
  constructor(
    private readonly pool: Pool,
    statements: readonly string[],
    ids: readonly string[],
  ) {
    this.statements = statements.map((text) => joinStatement(text, ids));
  }

  /** How many statements a request has. */
  get length(): number {
    return this.statements.length;
  }

  /** One transaction for one request, with other ids in the order of the constructor's. */
  async alone(ids: readonly string[]): Promise<void> {
    await this.send([ids]);
  }

  /**
   * Requests that came while earlier transactions were under way share the next one, at most 32 of them, two transactions
   * at a time. Nobody waits for others to come.
   */
  inGroup(ids: readonly string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.queue.push({
        ids,
        end: (failure) => (failure === undefined ? resolve() : reject(failure)),
      });
      void this.next();
    });
  }

  private async next(): Promise<void> {
    if (this.groups === GROUPS || this.queue.length === 0) {
      return;
    }
    const group = this.queue.splice(0, GROUP_MAX);
    this.groups += 1;
    try {
      await this.send(group.map(({ ids }) => ids));
      group.forEach(({ end }) => end());
    } catch (error) {
      group.forEach(({ end }) => end(error));
    }
    this.groups -= 1;
    void this.next();
  }

  private async send(requests: readonly (readonly string[])[]): Promise<void> {
    const connection = await this.pool.getConnection();
    try {
      for (const statement of this.statements) {
        const text = statement(requests);
        const [result] = await connection.query(text);
        if (text.startsWith('UPDATE') && (result as ResultSetHeader).affectedRows !== requests.length) {
          throw new Error(`Not every row was changed: ${text}`);
        }
      }
    } finally {
      connection.release();
    }
  }
}
