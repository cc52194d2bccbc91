import type { Pool } from 'mysql2/promise';

/**
 * The statements of one recorded request, sent again for other rows without anything around them: the ids in their texts
 * are replaced, everything else stays as the service sent it.
 */
export class Replay {
  /** Each statement as texts and, between them, positions in `ids`. */
  private readonly statements: (string | number)[][];

  /**
   * @param statements as the server logged them, BEGIN and COMMIT included
   * @param ids what differs from request to request: numbers and UUIDs that occur nowhere else in the texts
   */
  constructor(statements: readonly string[], ids: readonly string[]) {
    const pattern = new RegExp(`(?<![\\w-])(${ids.join('|')})(?![\\w-])`, 'g');
    this.statements = statements.map((text) =>
      text.split(pattern).map((part, position) => (position % 2 === 1 ? ids.indexOf(part) : part)),
    );
  }

  /** How many statements a request has. */
  get length(): number {
    return this.statements.length;
  }

  /** Sends them one after the other on one connection, with other ids in the order of the constructor's. */
  async run(pool: Pool, ids: readonly string[]): Promise<void> {
    const connection = await pool.getConnection();
    try {
      for (const parts of this.statements) {
        await connection.query(parts.map((part) => (typeof part === 'number' ? ids[part] : part)).join(''));
      }
    } finally {
      connection.release();
    }
  }
}
