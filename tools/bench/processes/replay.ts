import type { Pool, ResultSetHeader } from 'mysql2/promise';
import { joinStatement, type JoinedStatement } from './joined-statement.js';

/** Maximum requests per shared transaction, and concurrent transactions: the defaults of the service. */
const MAX_GROUP_SIZE = 32;
const MAX_CONCURRENT_GROUPS = 2;

interface Queued {
  ids: readonly string[];
  end: (failure?: unknown) => void;
}

/**
 * Replays the statements of one recorded request for other rows, without the service around them: ids in the statements are
 * replaced, everything else is sent as the service sent it.
 */
export class Replay {
  private readonly statements: readonly JoinedStatement[];
  private readonly queue: Queued[] = [];
  private groups = 0;

  /**
   * @param statements statements as logged by the server, including BEGIN and COMMIT
   * @param ids values that differ between requests: numbers and UUIDs that occur nowhere else in the statements
   */
  constructor(
    private readonly pool: Pool,
    statements: readonly string[],
    ids: readonly string[],
  ) {
    this.statements = statements.map((text) => joinStatement(text, ids));
  }

  /** Number of statements per request. */
  get length(): number {
    return this.statements.length;
  }

  /** Runs one transaction for one request, with other ids in the order of the constructor's. */
  async alone(ids: readonly string[]): Promise<void> {
    await this.send([ids]);
  }

  /**
   * Queues a request. Requests that arrive while earlier transactions are running share the next one: up to 32 requests per
   * transaction, two concurrent transactions, no delay to wait for more.
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
    if (this.groups === MAX_CONCURRENT_GROUPS || this.queue.length === 0) {
      return;
    }
    const group = this.queue.splice(0, MAX_GROUP_SIZE);
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
          throw new Error(`Not all rows were changed: ${text}`);
        }
      }
    } finally {
      connection.release();
    }
  }
}
