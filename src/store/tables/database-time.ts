import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Database } from '../database.js';
import { sqlTime } from './table-columns.js';

const MICROSECONDS = 1_000;
const DAY_MS = 86_400_000;

/**
 * The clock that leases are measured with, as SQL without parameters. Clocks of replicas differ, so on MySQL and MariaDB it is
 * the server's; the embedded file belongs to one process, whose clock it is.
 */
@Injectable()
export class DatabaseTime {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @param ms milliseconds from now */
  at(ms = 0): string {
    return this.database.isEmbedded
      ? `'${sqlTime(this.date(ms))}'`
      : `UTC_TIMESTAMP(3) + INTERVAL ${Math.round(ms) * MICROSECONDS} MICROSECOND`;
  }

  /**
   * The same as a new value of a column, see `Changes`.
   * @param ms milliseconds from now
   */
  value(ms = 0): Date | (() => string) {
    return this.database.isEmbedded ? this.date(ms) : () => this.at(ms);
  }

  untilMs(column: string): string {
    return this.database.isEmbedded
      ? `(julianday(${column}) - julianday(${this.at()})) * ${DAY_MS}`
      : `TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), ${column}) / ${MICROSECONDS}`;
  }

  private date(fromNowMs: number): Date {
    return new Date(this.clock.now().getTime() + Math.round(fromNowMs));
  }
}
