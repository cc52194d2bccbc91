import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Database } from './database.js';
import { sqlTime } from './table-columns.js';

const MICROSECONDS = 1_000;
const DAY_MS = 86_400_000;

/** A point in time as SQL, with the values of its named parameters. */
export interface SqlTime {
  sql: string;
  parameters: Record<string, string | number>;
}

/**
 * The clock that leases are measured with. Clocks of replicas differ, so on MySQL and MariaDB it is the server's; the
 * embedded file belongs to one process, whose clock it is.
 */
@Injectable()
export class DatabaseTime {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  now(): SqlTime {
    return this.database.isEmbedded
      ? { sql: ':now', parameters: { now: this.text(0) } }
      : { sql: 'UTC_TIMESTAMP(3)', parameters: {} };
  }

  /** @param ms milliseconds from now */
  later(ms: number): SqlTime {
    return this.database.isEmbedded
      ? { sql: ':later', parameters: { later: this.text(ms) } }
      : {
          sql: 'UTC_TIMESTAMP(3) + INTERVAL :microseconds MICROSECOND',
          parameters: { microseconds: Math.round(ms) * MICROSECONDS },
        };
  }

  /**
   * The same for a new value of a column, see `Changes`.
   * @param ms milliseconds from now
   */
  laterValue(ms: number): Date | (() => string) {
    return this.database.isEmbedded
      ? new Date(this.clock.now().getTime() + Math.round(ms))
      : () => `UTC_TIMESTAMP(3) + INTERVAL ${Math.round(ms) * MICROSECONDS} MICROSECOND`;
  }

  /**
   * A point in time for a statement that is spelled out.
   * @param ms milliseconds from now
   */
  bound(ms: number): { sql: string; values: (string | number)[] } {
    return this.database.isEmbedded
      ? { sql: '?', values: [this.text(ms)] }
      : { sql: 'UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND', values: [Math.round(ms) * MICROSECONDS] };
  }

  untilMs(column: string): SqlTime {
    return this.database.isEmbedded
      ? {
          sql: `(julianday(${column}) - julianday(:now)) * ${DAY_MS}`,
          parameters: { now: this.text(0) },
        }
      : { sql: `TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), ${column}) / ${MICROSECONDS}`, parameters: {} };
  }

  /** As datetime columns of the embedded file hold it: UTC, comparable as text. */
  private text(fromNowMs: number): string {
    return sqlTime(new Date(this.clock.now().getTime() + Math.round(fromNowMs)));
  }
}
